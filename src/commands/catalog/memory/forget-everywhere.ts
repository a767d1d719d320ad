/** `/forget … --everywhere`: shows what would go, asks for a yes, and tells what became of it. The run has erased by then. */
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { joined, markdownTable } from "#src/kernel/markdown.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import type { CommandOutcome } from "../../command.ts";
import type { DoomedTurn, ErasurePreview } from "../../command-erasing.ts";
import { erasureTarget, type ForgetFlags } from "./find-record.ts";
import { momentOf, type ActionContext } from "./memory-action.ts";
import { recordRow } from "./record-row.ts";

export async function forgetEverywhere(context: ActionContext, flags: ForgetFlags): Promise<CommandOutcome> {
  const { erasing } = context;
  if (erasing?.receipt !== undefined) return { envelope: erasing.receipt, isCommitted: true };
  if (erasing?.preview === undefined) return { envelope: unsupported() };
  const target = await erasureTarget(context, flags);
  if (target.kind === "refused") return target;
  const preview = await erasing.preview({ text: target.text, asked: flags.text });
  return { envelope: previewEnvelope(context, preview, flags) };
}

function unsupported(): Envelope {
  return refused("erasure_unsupported", "a run cannot erase the thread that it stands on", {
    next: "Whoever runs the server erases a whole conversation with lily erase --server <url> --key <session key>, or delete its threads. Nothing was changed.",
  });
}

function previewEnvelope(context: ActionContext, preview: ErasurePreview, flags: ForgetFlags): Envelope {
  const { turns, records, counts, inPart } = preview;
  const moment = momentOf(context);
  const dated = (turn: DoomedTurn): DoomedTurn => ({
    ...turn,
    at: turn.at === "" ? "" : localTime(turn.at, moment.timeZone),
  });
  const data = {
    turns: turns.map(dated),
    stays: inPart.turns.map(dated),
    records: records.map((record) => recordRow(record, moment)),
    counts: counts.filter(({ count }) => count > 0),
  };
  const facts = markdownTable(
    ["fact", ""],
    data.records.map(({ short, text }) => [short, text]),
  );
  const body = joined([facts, turnsTable("turn", data.turns), turnsTable("stays", data.stays)], "\n\n");
  const stays = inPart.what === "" ? "" : `. Stays, since it has only a part of it: ${inPart.what}`;
  const what = `${countText(preview)}${stays}`;
  if (flags.switches.has("dry-run")) {
    return done("memory_erase_preview", `${what}. Nothing was changed.`, {
      next: "The same with --yes in place of --dry-run erases it. It cannot be taken back.",
      data,
      body,
    });
  }
  return refused("confirmation_needed", `${what}. It cannot be taken back`, {
    next: "Send the same with --yes to erase it. Nothing was changed.",
    data,
    body,
  });
}

/** More would not be read. */
const MOST_TURNS = 30;

function turnsTable(heading: string, turns: readonly DoomedTurn[]): string {
  const rows = turns
    .slice(0, MOST_TURNS)
    .map(({ sessionKey, session, turn, at, said }) => [
      at,
      `${sessionKey}, session ${session ?? "?"}, turn ${turn}`,
      said,
    ]);
  const more = turns.length - MOST_TURNS;
  if (more > 0) rows.push(["", `and ${more} more turns`, ""]);
  return markdownTable([heading, "of", "says"], rows);
}

function countText({ counts }: ErasurePreview): string {
  const found = counts.filter(({ count }) => count > 0).map(({ place, count }) => `${place} (${count})`);
  if (found.length === 0) return "Nothing was found that says it; a mark would keep it from being remembered";
  return `Would be erased: ${found.join(", ")}; each turn as a whole`;
}
