/** The memory of a run: whose it is, what may be kept in it, and what of it fits a turn. */
import { createEvidenceBook, type EvidenceBook } from "#memory/evidence/evidence-book.ts";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { createFactStore } from "#memory/facts/fact-store.ts";
import { ownMemory } from "#memory/namespaces.ts";
import { checkText } from "#memory/policy/check-text.ts";
import { createSecretlintScanner, type SecretScanner } from "#memory/policy/secret-scanner.ts";
import type { PolicyVerdict } from "#memory/policy/verdict.ts";
import type { Domain, MemoryRecord } from "#memory/record.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { CommandMemory } from "#src/commands/command.ts";
import { chooseFacts, type ChosenFacts, rankFacts, type RecalledFacts } from "#src/context/found-sections.ts";
import { defined } from "#src/kernel/json.ts";
import { termsOf } from "#src/kernel/words.ts";
import { type Chain, entryOf } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { policyOf } from "./policy-of.ts";
import type { RunContext } from "./run-context.ts";

/** Its rules are loaded with the first text that is checked, once a process. */
const scanWithSecretlint = createSecretlintScanner();

/** What finds secrets in a run. */
export function scanWith({ scanSecrets }: Pick<SessionDeps, "scanSecrets">): SecretScanner {
  return scanSecrets ?? scanWithSecretlint;
}

/** What the policy says of a text that is to be kept; `isTrusted` by default: the owner said it. */
export function gateOf(deps: Pick<SessionDeps, "scanSecrets">, { isTrusted = true } = {}) {
  return (text: string, isName = false): Promise<PolicyVerdict> =>
    checkText(text, { scan: scanWith(deps), isTrusted, isName });
}

/**
 * Whose memory a session reads and keeps: its owner's, or that of its key alone; `undefined` where memory is switched off,
 * or for this key.
 */
export function memoryOwner(
  { memory }: Pick<SessionDeps, "memory">,
  { owner, sessionKey }: Pick<SessionFields, "owner" | "sessionKey">,
): string | undefined {
  const of = memory.of(sessionKey);
  if (!memory.enabled || of === "none") return undefined;
  return of === "own" ? ownMemory(owner, sessionKey) : owner;
}

/**
 * The memory of a session; `undefined` when it has none.
 *
 * @param turn number of the turn in which something is remembered
 */
export function memoryOf(
  deps: Pick<SessionDeps, "clock" | "ids" | "memory" | "scanSecrets">,
  store: BaseStore,
  { session, turn }: { readonly session: SessionFields; readonly turn?: number },
): CommandMemory | undefined {
  const owner = memoryOwner(deps, session);
  if (owner === undefined) return undefined;
  const { clock, ids } = deps;
  const scan = scanWith(deps);
  return {
    facts: createFactStore(store, { clock, ids, scan }),
    who: {
      owner,
      agent: session.activeAgent,
      sessionId: session.sessionId,
      ...defined({ turn }),
    },
  };
}

/** The evidence book of a run; `undefined` when memory is switched off. */
export function evidenceOf(
  deps: Pick<SessionDeps, "clock" | "memory" | "scanSecrets">,
  store: BaseStore,
): EvidenceBook | undefined {
  if (!deps.memory.enabled) return undefined;
  return createEvidenceBook(store, { clock: deps.clock, scan: scanWith(deps) });
}

/** Facts that fit what was said. */
const RELEVANT = 12;
/** Newest of persona, rules and the task in hand that come before all else that holds whatever is said. */
const FIRST = 3;

/** What facts may take that fit nothing that was said: this share of the context, and at most so many tokens. */
const PERSON_SHARE = 0.15;
const PERSON_TOKENS = 800;

/** Messages before the last that facts may fit too, and turns in which they are looked for. */
const EARLIER = 3;
const LOOKED_AT = 8;

interface Wanted {
  readonly text: string;
  /** What the user said before it in the conversation. */
  readonly earlier: readonly string[];
  /** The task that the session is at; of no other one anything is read. */
  readonly task: string | undefined;
  /** The store finds facts by their meaning, not only by their words. */
  readonly byMeaning: boolean;
  /** ISO instant from which on persona and rules of other sessions are not taken over. */
  readonly begun?: string | undefined;
}

/**
 * Facts for what the user said: who they are, who Lily is to them and how it works, whatever was said, the newest first; and
 * what fits. Personality memory of the owner, in the scopes of the agent, and the memory of the task that they have chosen;
 * nothing of what has expired or was archived, replaced or put aside. Reading changes nothing.
 */
export async function recallFacts(
  { facts, who }: Pick<CommandMemory, "facts" | "who">,
  { text, earlier, task, byMeaning, begun }: Wanted,
): Promise<RecalledFacts & { readonly all: readonly MemoryRecord[] }> {
  const talk = { said: questionIn(text), earlier: earlier.map(questionIn) };
  const found = await facts.recall(who, {
    query: talk.said,
    earlier: talk.earlier.join("\n"),
    limit: RELEVANT,
    byMeaning,
    ...defined({ begun, task }),
  });
  const { relevant: bySaid, byEarlier, all, waiting } = found;
  const of = (domain: Domain): MemoryRecord[] => all.filter((record) => record.domain === domain);
  const first = (["persona_core", "working_rules", "task_memory"] as const).flatMap((domain) =>
    of(domain).slice(0, FIRST),
  );
  const person = all
    .filter(({ domain }) => domain !== "task_memory")
    .toSorted((a, b) => Number(a.updated_at < b.updated_at) - Number(a.updated_at > b.updated_at));
  const { ranked, scores } = rankFacts({ bySaid, byEarlier }, talk);
  return {
    always: [...first, ...person],
    weak: bySaid.filter((record) => !ranked.includes(record)),
    scores,
    waiting,
    relevant: [...ranked, ...(names(talk.said, task) ? of("task_memory").slice(0, RELEVANT) : [])],
    all,
  };
}

/** Whether a text has a word of the task's name. */
function names(text: string, task: string | undefined): boolean {
  const terms = new Set(termsOf(task ?? ""));
  return termsOf(text).some((term) => terms.has(term));
}

/** The turn that something is recalled for. */
interface RecallSubject {
  readonly chain: Chain;
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
  run: RunContext,
  subject: RecallSubject,
): Promise<ChosenFacts> {
  const { memoryTokens, contextTokens } = deps.limits;
  const room = {
    budgetTokens: recallBudget(deps.limits, memoryTokens),
    alwaysTokens: Math.min(contextTokens * PERSON_SHARE, PERSON_TOKENS),
    timeZone: policyOf(deps, subject.session).timeZone,
  };
  const isOff = memoryOwner(deps, subject.session) === undefined;
  const recalled = await recallForTurn(deps, run, subject);
  const chosen = chooseFacts(recalled ?? { relevant: [], always: [] }, room);
  return isOff ? { ...chosen, left: [["memory", "", "off"]] } : chosen;
}

/** All that holds and may be read in a turn, newest first by domain: where answers are looked for without a model. */
export async function factsInHand(
  deps: SessionDeps,
  run: RunContext,
  subject: RecallSubject,
): Promise<readonly MemoryRecord[]> {
  return (await recallForTurn(deps, run, subject))?.all ?? [];
}

async function recallForTurn(
  deps: SessionDeps,
  run: RunContext,
  { chain, session, turn, earlier = [] }: RecallSubject,
) {
  const memory = memoryOf(deps, run.store, { session });
  if (memory === undefined || deps.limits.memoryTokens === 0) return undefined;
  return recallFacts(memory, {
    text: turn.text,
    earlier,
    task: session.task,
    byMeaning: deps.searchesByMeaning === true,
    begun: begunAt(deps, { chain, session }),
  });
}

/** When the session began; where one session is all of a key, nothing is ever begun, and rules are read as they stand. */
export function begunAt(
  { lifecycleMode }: SessionDeps,
  { chain, session }: Pick<RecallSubject, "chain" | "session">,
): string | undefined {
  return lifecycleMode === "legacy" ? undefined : entryOf(chain, session.sessionId)?.opened.at;
}

/** Words of a long message are enough to look by. */
const QUESTION_CHARACTERS = 1_000;

/** Share of the whole context that each may take where that is small. */
const MAX_SHARE = 0.25;

/** Ten pieces of both sides hardly ever take more. */
const MAX_RECALLED = 9_000;
const CHARACTERS_A_TOKEN = 4;

/** The words of a message by which something is looked for. */
export function questionIn(text: string): string {
  return text.slice(0, QUESTION_CHARACTERS).toWellFormed();
}

/** Tokens of a context that what was found may take, of those that are configured for it. */
export function recallBudget(
  { contextTokens }: Pick<SessionDeps["limits"], "contextTokens">,
  tokens: number,
): number {
  return Math.min(tokens, contextTokens * MAX_SHARE);
}

/** Characters of what is recalled at once: a quarter of a small context, so that there is room for more than it. */
export function recallCharacters({ contextTokens }: Pick<SessionDeps["limits"], "contextTokens">): number {
  return Math.min(MAX_RECALLED, Math.floor(contextTokens * MAX_SHARE) * CHARACTERS_A_TOKEN);
}
