/** Reads what is remembered and fits a turn: for the prompt and for the answer without a model. */
import { asksAboutMemory, memorySection, type MemorySection } from "#src/context/memory-section.ts";
import { rankFacts } from "#src/context/rank-facts.ts";
import type { Domain, MemoryRecord } from "#memory/record.ts";
import type { CommandMemory } from "#src/commands/command.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { termsOf } from "#src/kernel/words.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { questionIn, recallBudget } from "./recall-bounds.ts";
import type { RunContext } from "./run-context.ts";
import { memoryOf } from "./run-memory.ts";

/** Facts that fit what was said. */
const RELEVANT = 12;
/** Newest facts of a domain that hold whatever is said. */
const ALWAYS = 3;

/** Messages before the last that facts may fit too, and turns in which they are looked for. */
const EARLIER = 3;
const LOOKED_AT = 8;

const NOTHING = memorySection({ relevant: [], always: [] }, 0);

interface Wanted {
  readonly text: string;
  /** What the user said before it in the conversation. */
  readonly earlier: readonly string[];
  /** The task that the session is at; of no other one anything is read. */
  readonly task: string | undefined;
  /** The store finds facts by their meaning, not only by their words. */
  readonly byMeaning: boolean;
  readonly budgetTokens: number;
}

/**
 * The memory section for what the user said: personality memory of the owner, in the scopes of the agent, and the memory
 * of the task that they have chosen; nothing of what has expired or was archived, replaced or put aside. Reading changes
 * nothing.
 */
async function recallMemory(
  { facts, who }: CommandMemory,
  { text, earlier, task, byMeaning, budgetTokens }: Wanted,
): Promise<MemorySection> {
  const scope = task === undefined ? {} : { task };
  const query = questionIn(text);
  const asksForAll = asksAboutMemory(text);
  const talk = { said: query, earlier: earlier.map(questionIn) };
  const {
    relevant: bySaid,
    byEarlier,
    newest,
  } = await facts.recall(who, {
    query: talk.said,
    earlier: talk.earlier.join("\n"),
    limit: RELEVANT,
    byMeaning,
    newest: {
      persona_core: ALWAYS,
      working_rules: ALWAYS,
      user_profile: asksForAll ? RELEVANT : 0,
      task_memory: RELEVANT,
    },
    ...scope,
  });
  const relevant = rankFacts({ bySaid, byEarlier }, talk);
  const newestOf = (domain: Domain, count: number): MemoryRecord[] =>
    newest.filter((record) => record.domain === domain).slice(0, count);
  return memorySection(
    {
      always: [
        ...newestOf("persona_core", ALWAYS),
        ...newestOf("working_rules", ALWAYS),
        ...newestOf("task_memory", ALWAYS),
      ],
      relevant: [
        ...relevant,
        ...newestOf("user_profile", RELEVANT),
        ...(names(query, task) ? newestOf("task_memory", RELEVANT) : []),
      ],
    },
    budgetTokens,
  );
}

/** Whether a text has a word of the task's name. */
function names(text: string, task: string | undefined): boolean {
  const terms = new Set(termsOf(task ?? ""));
  return termsOf(text).some((term) => terms.has(term));
}

/** The turn that something is recalled for. */
export interface RecallSubject {
  readonly session: SessionFields;
  readonly turn: { readonly text: string };
  /** What the user said before it in the conversation, as {@link saidBefore} takes it. */
  readonly earlier?: readonly string[];
}

/** The user's last words before a turn: a message that goes on with something does not name it again. */
export async function saidBefore(newestFirst: AsyncIterable<readonly TurnRecord[]>): Promise<string[]> {
  const said: string[] = [];
  let looked = 0;
  for await (const turns of newestFirst) {
    for (const { kind, messages } of turns.slice(0, LOOKED_AT - looked)) {
      const text = messages.find(({ role }) => role === "user")?.content ?? "";
      if (kind === "chat" && text !== "") said.push(text);
      if (said.length === EARLIER) return said;
    }
    looked += turns.length;
    if (looked >= LOOKED_AT) break;
  }
  return said;
}

/** What of memory a turn is given; nothing where memory is switched off. */
export async function memoryForTurn(
  deps: SessionDeps,
  { store }: RunContext,
  { session, turn, earlier = [] }: RecallSubject,
): Promise<MemorySection> {
  const memory = memoryOf(deps, store, { session });
  const { memoryTokens } = deps.limits;
  if (memory === undefined || memoryTokens === 0) return NOTHING;
  return recallMemory(memory, {
    text: turn.text,
    earlier,
    task: session.task,
    byMeaning: deps.searchesByMeaning === true,
    budgetTokens: recallBudget(deps.limits, memoryTokens),
  });
}
