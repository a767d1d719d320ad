/** Shows what is remembered as tables. */
import type { z } from "zod";
import { printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import type { checkpointsData, memoryData, recordsData, shortMemoryData } from "./memory-fields.ts";
import { modelText } from "./model-text.ts";
import { table } from "./table.ts";

type Row = z.infer<typeof recordsData>["records"][number];

/** A screen narrower than this shows a fact as a paragraph. */
const NARROW = 72;

/** States and counts by the words that the messages use for them. */
const STATES: Readonly<Record<string, string>> = { verify: "to confirm", superseded: "replaced" };
const COUNTED: Readonly<Record<string, string>> = { review: "for review", leftOut: "not read" };

/** One fact a line. */
export function renderRecords({ records }: z.infer<typeof recordsData>, screen: Screen): string {
  if (records.length === 0) return "";
  const { paint } = screen;
  const rows = records.map((row): [string, string, string, string] => [
    paint.cyan(printableLine(row.short)),
    printableLine(row.text),
    row.task === null ? printableLine(row.domain) : `task ${printableLine(row.task)}`,
    noteOf(row, screen),
  ]);
  if (screen.columns >= NARROW) return table({ head: ["id", "fact", "kind", "since"], rows }, screen);
  return table(
    { rows: rows.map(([id, text, kind, note]) => [id, `${text}\n${paint.dim(kind)}\n${note}`]) },
    screen,
  );
}

/** When it was remembered, by whom if not by the owner, and what there is to say of its state. */
function noteOf({ remembered, saidBy, state, expires }: Row, { paint }: Screen): string {
  const notes = [
    paint.dim(printableLine(remembered ?? "")),
    saidBy === "owner" ? "" : `by ${printableLine(saidBy)}`,
    state === "current" ? "" : paint.yellow(STATES[state] ?? printableLine(state)),
    expires === null || state === "expired" ? "" : paint.dim(printableLine(`until ${expires}`)),
  ];
  return notes.filter((note) => note !== "").join("\n");
}

/** How much there is of each kind, then what can be done. */
export function renderMemory({ counts, actions }: z.infer<typeof memoryData>, screen: Screen): string {
  const { paint } = screen;
  const kinds = Object.entries(counts).map(([kind, count]) => [
    paint.dim(printableLine(COUNTED[kind] ?? kind)),
    String(count),
  ]);
  const usages = actions.map(({ usage, summary }) => [
    paint.cyan(printableLine(usage)),
    printableLine(summary),
  ]);
  return `${table({ rows: kinds }, screen)}\n\n${table({ rows: usages }, screen)}`;
}

/** One fact about the conversation a line. */
export function renderShortMemory(shown: z.infer<typeof shortMemoryData>, screen: Screen): string {
  const facts: readonly (readonly [string, string | null])[] = [
    ["turns", String(shown.turns)],
    ["given from", shown.contextFrom > 1 ? `turn ${shown.contextFrom}` : null],
    ["last turn", shown.lastActivity],
    ["answers", modelText(shown.solver)],
    ["thread", shown.threadId],
    ["data", shown.storage],
  ];
  const rows = facts.flatMap(([name, value]) =>
    value === null ? [] : [[screen.paint.dim(name), printableLine(value)]],
  );
  return table({ rows }, screen);
}

/** One stored state a line; on a narrow screen a paragraph. */
export function renderCheckpoints({ checkpoints }: z.infer<typeof checkpointsData>, screen: Screen): string {
  if (checkpoints.length === 0) return "";
  const isNarrow = screen.columns < NARROW;
  const rows = checkpoints.map(({ id, at, step, next, turns, messages }) => {
    const where = next.length === 0 ? "ended" : printableLine(`before ${next.join(", ")}`);
    const cells = [
      printableLine(id),
      printableLine(at),
      String(step),
      String(turns),
      String(messages),
      where,
    ];
    if (!isNarrow) return cells;
    return [
      `${printableLine(at)}\n${printableLine(id)}\nstep ${step}, ${turns} turns, ${messages} messages, ${where}`,
    ];
  });
  if (isNarrow) return table({ rows }, screen);
  return table({ head: ["checkpoint", "stored", "step", "turns", "messages", "where"], rows }, screen);
}
