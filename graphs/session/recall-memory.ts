/** Reads what is remembered and fits a turn: for the prompt and for the answer without a model. */
import { asksAboutMemory, memorySection, type MemorySection } from "#src/context/memory-section.ts";
import type { CommandMemory } from "#src/commands/command-memory.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
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

/**
 * The memory section for what the user said: personality memory of the owner, in the scopes of the agent; never task
 * memory, nor what has expired or was archived, replaced or put aside. Reading changes nothing.
 */
async function recallMemory(
  { book, who }: CommandMemory,
  text: string,
  budgetTokens: number,
): Promise<MemorySection> {
  const query = text.slice(0, QUERY_CHARACTERS).toWellFormed().trim();
  const [persona, rules, fitting, profile] = await Promise.all([
    book.show(who, { domains: ["persona_core"], limit: ALWAYS }),
    book.show(who, { domains: ["working_rules"], limit: ALWAYS }),
    query === "" ? undefined : book.show(who, { query, limit: RELEVANT }),
    asksAboutMemory(text) ? book.show(who, { domains: ["user_profile"], limit: RELEVANT }) : undefined,
  ]);
  return memorySection(
    {
      always: [...persona.records, ...rules.records],
      relevant: [...(fitting?.records ?? []), ...(profile?.records ?? [])],
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
  return recallMemory(memory, turn.text, Math.min(memoryTokens, contextTokens * MAX_SHARE));
}
