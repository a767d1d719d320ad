/** Reads what is remembered and fits a turn: for the prompt and for the answer without a model. */
import { asksAboutMemory, memorySection, type MemorySection } from "#src/context/memory-section.ts";
import type { MemoryRecord, PersonalityDomain } from "#memory/record.ts";
import type { CommandMemory } from "#src/commands/command-memory.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { rankTexts } from "#src/kernel/words.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { RunContext } from "./run-context.ts";
import { memoryOf } from "./run-memory.ts";

/** Facts that fit what was said. */
const RELEVANT = 12;
/** Newest facts of a domain that hold whatever is said. */
const ALWAYS = 3;
/** Words of a long message are enough to look by. */
const QUERY_CHARACTERS = 1_000;

/** Share of the whole context that memory may take where that is small. */
const MAX_SHARE = 0.25;

interface Wanted {
  readonly text: string;
  /** The store finds facts by their meaning, not only by their words. */
  readonly byMeaning: boolean;
  readonly budgetTokens: number;
}

/**
 * The memory section for what the user said: personality memory of the owner, in the scopes of the agent; never task
 * memory, nor what has expired or was archived, replaced or put aside. Reading changes nothing.
 */
async function recallMemory(
  { book, who }: CommandMemory,
  { text, byMeaning, budgetTokens }: Wanted,
): Promise<MemorySection> {
  // One person's facts are few: ranked here, they cost the same however long the conversations beside them are.
  const { records } = await book.show(who, { limit: Number.MAX_SAFE_INTEGER });
  const newestOf = (domain: PersonalityDomain, count: number): MemoryRecord[] =>
    records.filter((record) => record.domain === domain).slice(0, count);
  const query = text.slice(0, QUERY_CHARACTERS).toWellFormed().trim();
  const fitting =
    byMeaning && query !== ""
      ? (await book.show(who, { query, limit: RELEVANT })).records
      : rankTexts(records, query, (record) => record.text).map(({ item }) => item);
  return memorySection(
    {
      always: [...newestOf("persona_core", ALWAYS), ...newestOf("working_rules", ALWAYS)],
      relevant: [
        ...fitting.slice(0, RELEVANT),
        ...(asksAboutMemory(text) ? newestOf("user_profile", RELEVANT) : []),
      ],
    },
    budgetTokens,
  );
}

/** What of memory a turn is given; nothing where memory is switched off. */
export async function memoryForTurn(
  deps: SessionDeps,
  { store }: RunContext,
  { session, turn }: { readonly session: SessionFields; readonly turn: { readonly text: string } },
): Promise<MemorySection> {
  const memory = memoryOf(deps, store, { session });
  const { contextTokens, memoryTokens } = deps.limits;
  if (memory === undefined || memoryTokens === 0) return memorySection({ relevant: [], always: [] }, 0);
  return recallMemory(memory, {
    text: turn.text,
    byMeaning: deps.searchesByMeaning === true,
    budgetTokens: Math.min(memoryTokens, contextTokens * MAX_SHARE),
  });
}
