/** The list of erasures in a chain, without what was erased; outside what seals cover. Pure. */
import { z } from "zod";
import { entryPartSchema, type EntryPart } from "./chain-entry.ts";

export const redactionSchema = z.strictObject({
  sessionId: z.string(),
  /** ISO instant of the erasure. */
  at: z.string(),
  /** Numbers of the turns, ascending. */
  turns: z.array(z.int().min(1)).optional(),
  /** Parts of the session's chain entry. */
  parts: z.array(entryPartSchema).optional(),
});

/** What was erased of one session at one time. */
export type Redaction = z.infer<typeof redactionSchema>;

/** What has such a list; most chains have none. */
export interface WithRedactions {
  readonly redactions?: readonly Redaction[] | undefined;
}

/** Erased turns of a session by their number, with the time of the erasure. */
export function erasedTurns(chain: WithRedactions, sessionId: string): ReadonlyMap<number, string> {
  const own = (chain.redactions ?? []).filter((redaction) => redaction.sessionId === sessionId);
  return new Map(own.flatMap(({ at, turns = [] }) => turns.map((turn) => [turn, at] as const)));
}

/** Erased parts of a session's chain entry. */
export function erasedParts(chain: WithRedactions, sessionId: string): readonly EntryPart[] {
  const own = (chain.redactions ?? []).filter((redaction) => redaction.sessionId === sessionId);
  return own.flatMap(({ parts = [] }) => parts);
}

/** The list with what is not on it yet; the same list when there is nothing new. */
export function listRedaction(list: readonly Redaction[], added: Redaction): readonly Redaction[] {
  const { at, sessionId } = added;
  const known = erasedTurns({ redactions: list }, sessionId);
  const listed = erasedParts({ redactions: list }, sessionId);
  const turns = [...new Set(added.turns)].filter((turn) => !known.has(turn)).sort((a, b) => a - b);
  const parts = (added.parts ?? []).filter((part) => !listed.includes(part));
  if (turns.length === 0 && parts.length === 0) return list;
  const redaction = {
    sessionId,
    at,
    ...(turns.length === 0 ? {} : { turns }),
    ...(parts.length === 0 ? {} : { parts }),
  };
  return [...list, redaction];
}
