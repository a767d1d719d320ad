/** What an erasure would take along, for a person to look at before. Changes nothing. */
import type { DoomedTurn, ErasurePreview } from "#src/commands/command-erasing.ts";
import { memoryRecordSchema } from "#memory/record.ts";
import { turnRecordSchema } from "#src/sessions/turn-record.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { stringsOf } from "#src/storage/stored-strings.ts";
import { fromTurnItem } from "#src/storage/session-items.ts";
import { findAll, findInPart, partText, searchFor, type Target } from "./erase.ts";
import { countOf, type ErasureDeps, type Found, type FoundIn } from "./place.ts";
import { saysPartOf, type Says } from "./says.ts";

/** How many would go from each place; empty when nothing is kept of it. */
export async function preview(
  deps: ErasureDeps,
  target: Target,
): Promise<{ readonly place: string; readonly count: number }[]> {
  return countsOf(await findAll(searchFor(deps, target)));
}

function countsOf(found: FoundIn): { readonly place: string; readonly count: number }[] {
  return [...found].flatMap(([place, items]) =>
    countOf(items) === 0 ? [] : [{ place, count: countOf(items) }],
  );
}

/** Looks for what would go with a text, turn by turn. */
export async function previewText(
  deps: ErasureDeps,
  target: Target & { readonly text: string },
): Promise<ErasurePreview> {
  const search = searchFor(deps, target);
  const found = await findAll(search);
  const inPart = await findInPart(search, target);
  const chains = await createStoreSessionRepository(deps.storage.store).listChains(
    target.owner,
    () => undefined,
  );
  const ordinals = new Map(
    chains.flatMap(({ sessions }) => sessions.map(({ sessionId, ordinal }) => [sessionId, ordinal] as const)),
  );
  const turnsIn = (all: FoundIn, says: Says): DoomedTurn[] =>
    (all.get("transcripts") ?? []).map((turn) => doomedTurn(turn, { ordinals, says }));
  return {
    turns: turnsIn(found, search.says),
    records: (found.get("memory") ?? []).flatMap(({ value }) => {
      const record = memoryRecordSchema.safeParse(value);
      return record.success ? [record.data] : [];
    }),
    inPart: { what: partText(inPart), turns: turnsIn(inPart, saysPartOf(target.text, target.asked)) },
    counts: countsOf(found),
  };
}

function doomedTurn(
  item: Found,
  { ordinals, says }: { readonly ordinals: ReadonlyMap<string, number>; readonly says: Says },
): DoomedTurn {
  const { sessionKey = "", sessionIds: [sessionId = ""] = [], key, value } = item;
  const record = turnRecordSchema.safeParse(fromTurnItem(value, item));
  const said = stringsOf(value).find(says) ?? "";
  return {
    sessionKey,
    session: ordinals.get(sessionId) ?? null,
    turn: Number.parseInt(key, 10),
    at: record.success ? record.data.at : "",
    kind: record.success ? record.data.kind : "chat",
    said: excerptOf(said, says),
  };
}

const MOST_CHARACTERS = 80;

/** What says it, in one line: all of it when it is short, else from where it is said. */
export function excerptOf(said: string, says: Says): string {
  const whole = inOneLine(said);
  if (whole.length <= MOST_CHARACTERS) return whole;
  const text = inOneLine(said.split("\n").find(says) ?? said);
  const start = text.length <= MOST_CHARACTERS ? 0 : lastStart(text, says);
  return `${start > 0 ? "…" : ""}${text.slice(start, start + MOST_CHARACTERS)}`.toWellFormed();
}

/** The last place from which `text` still says it: it says it from every earlier one, too. */
function lastStart(text: string, says: Says): number {
  let start = 0;
  let after = text.length;
  while (after - start > 1) {
    const between = (start + after) >>> 1;
    if (says(text.slice(between))) start = between;
    else after = between;
  }
  return start;
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}
