/** Shows what `lily doctor` found and did as tables. */
import type { Check, CheckState } from "#src/upkeep/check.ts";
import type { DiskUse } from "#src/upkeep/disk-usage.ts";
import type { RepairStep } from "#src/upkeep/repair.ts";
import { sizeText } from "#src/upkeep/size-text.ts";
import { printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { table } from "./table.ts";

/** One check a line. */
export function renderChecks(checks: readonly Check[], screen: Screen): string {
  if (checks.length === 0) return "";
  const rows = checks.map(({ check, state, found, next }) => [
    check,
    stateText(state, screen),
    printableLine(found),
    printableLine(next ?? ""),
  ]);
  return table({ head: ["check", "state", "found", "what to do"], rows }, screen);
}

/** One kind a line, and their sum. */
export function renderUsage(usage: readonly DiskUse[], screen: Screen): string {
  if (usage.length === 0) return "";
  const total = usage.reduce((sum, { bytes }) => sum + bytes, 0);
  const rows = usage.map(({ kind, count, bytes }) => [
    kind,
    count === null ? "" : String(count),
    sizeText(bytes),
  ]);
  return table(
    { head: ["on disk", "count", "size"], rows: [...rows, ["together", "", sizeText(total)]] },
    screen,
  );
}

/** One item a line. */
export function renderRepairs(steps: readonly RepairStep[], screen: Screen): string {
  if (steps.length === 0) return "";
  const rows = steps.map(({ item, state, did }) => [item, state, printableLine(did)]);
  return table({ head: ["repair", "state", "what was done"], rows }, screen);
}

function stateText(state: CheckState, { paint }: Screen): string {
  switch (state) {
    case "ok":
      return paint.green(state);
    case "warn":
      return paint.yellow(state);
    case "bad":
      return paint.red(state);
  }
}
