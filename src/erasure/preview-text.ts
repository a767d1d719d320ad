/** What an erasure of a text would take along, for a person to look at before. Changes nothing. */
import type { DoomedTurn, ErasurePreview } from "#src/commands/command-erasing.ts";
import type { SayingTurn } from "#src/sessions/repository.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { deskOf, rulesOf, type TextErasure } from "./erase-text.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import { findTraces } from "./find-traces.ts";
import { findInPart, partText } from "./said-in-part.ts";

const SAID_CHARACTERS = 80;

/** Looks for what would go. */
export async function previewText(
  deps: ErasureDeps,
  { owner, ...wanted }: Pick<TextErasure, "owner" | "text" | "asked">,
): Promise<ErasurePreview> {
  const { storage, typed } = deps;
  const says = rulesOf(wanted);
  const desk = deskOf(deps, storage.store);
  const traces = await findTraces(deps, desk, { owner, says });
  const inPart = await findInPart(deps, desk, { owner, says, ...wanted });
  const chains = await createStoreSessionRepository(storage.store).listChains(owner, () => undefined);
  const ordinals = new Map(
    chains.flatMap(({ sessions }) => sessions.map(({ sessionId, ordinal }) => [sessionId, ordinal] as const)),
  );
  const shown = ({ ref, turn, at, kind, strings }: SayingTurn): DoomedTurn => ({
    sessionKey: ref.sessionKey,
    session: ordinals.get(ref.sessionId) ?? null,
    turn,
    at,
    kind,
    said: (strings[0] ?? "").replaceAll(/\s+/gu, " ").slice(0, SAID_CHARACTERS).toWellFormed(),
  });
  const { records, unreadable } = traces.memory;
  return {
    turns: traces.turns.map(shown),
    records,
    inPart: { what: partText(inPart), turns: inPart.turns.map(shown) },
    counts: [
      { place: "memory", count: records.length + unreadable.length },
      { place: "transcripts", count: traces.turns.length },
      { place: "failed turns", count: traces.failures.length },
      { place: "titles", count: traces.titles.length },
      { place: "evidence", count: traces.evidence.length },
      { place: "checkpoints", count: traces.threads.length },
      { place: "blobs", count: traces.blobs.length },
      { place: "input history", count: typed?.owner === owner ? typed.count(says) : 0 },
    ],
  };
}
