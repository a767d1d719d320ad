/** What an erasure of a text would take along, for a person to look at before. Changes nothing. */
import type { DoomedTurn, ErasurePreview } from "#src/commands/command-erasing.ts";
import type { SayingTurn } from "#src/sessions/repository.ts";
import { deskOf, rulesOf, type TextErasure } from "./erase-text.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import { excerptOf } from "./excerpt.ts";
import { chainsOf, findTraces } from "./find-traces.ts";
import { findInPart, partText } from "./said-in-part.ts";
import { saysPartOf, type Says } from "./says.ts";

/** Looks for what would go. */
export async function previewText(
  deps: ErasureDeps,
  { owner, ...wanted }: Pick<TextErasure, "owner" | "text" | "asked">,
): Promise<ErasurePreview> {
  const { storage, typed } = deps;
  const says = rulesOf(wanted);
  const desk = deskOf(deps, storage.store);
  const saysPart = saysPartOf(wanted.text, wanted.asked);
  const chains = await chainsOf(deps, owner);
  const traces = await findTraces(deps, desk, { owner, says, chains });
  const inPart = await findInPart(deps, desk, { owner, says, chains, ...wanted });
  const ordinals = new Map(
    chains.flatMap(({ sessions }) => sessions.map(({ sessionId, ordinal }) => [sessionId, ordinal] as const)),
  );
  const shown = ({ ref, turn, at, kind, strings }: SayingTurn, rule: Says): DoomedTurn => ({
    sessionKey: ref.sessionKey,
    session: ordinals.get(ref.sessionId) ?? null,
    turn,
    at,
    kind,
    said: excerptOf(strings[0] ?? "", rule),
  });
  const { records, unreadable } = traces.memory;
  return {
    turns: traces.turns.map((turn) => shown(turn, says)),
    records,
    inPart: { what: partText(inPart), turns: inPart.turns.map((turn) => shown(turn, saysPart)) },
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
