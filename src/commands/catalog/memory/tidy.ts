/** `/memory tidy`: marks now what the lifecycle job marks once a day, and shows it. */
import { done } from "#src/kernel/envelope.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { usageEnvelope } from "../../flags.ts";
import { momentOf, usageOf, type MemoryAction } from "./memory-action.ts";
import { factCount, recordRow } from "./record-row.ts";

export const tidyAction: MemoryAction = {
  words: "tidy",
  usage: "",
  summary: "mark what has expired and what is to be confirmed; deletes nothing",
  reads: false,
  async run(args, context) {
    if (args !== "") return { envelope: usageEnvelope("nothing can follow", usageOf(this)) };
    const { book, who } = context.memory;
    const report = await book.applyLifecycle(who);
    const marked = new Set([...report.expired, ...report.archived, ...report.due]);
    const records = marked.size === 0 ? [] : (await book.exportAll(who)).records.filter(isIn(marked));
    const envelope = done("memory_tidied", tidiedText(report), {
      ...(report.due.length === 0
        ? {}
        : { next: "/memory verify <id> confirms a fact, /memory edit <id> <text> corrects it." }),
      data: { ...report, records: records.map((record) => recordRow(record, momentOf(context))) },
    });
    // A mark is no change of what is known, and without one there is nothing to commit.
    return marked.size === 0 ? { envelope } : { envelope, isCommitted: true };
  },
};

function isIn(ids: ReadonlySet<string>) {
  return ({ id }: MemoryRecord): boolean => ids.has(id);
}

interface Marked {
  readonly expired: readonly string[];
  readonly archived: readonly string[];
  readonly due: readonly string[];
}

function tidiedText({ expired, archived, due }: Marked): string {
  const counts: readonly (readonly [number, string])[] = [
    [expired.length, "marked as expired"],
    [archived.length, "marked as archived"],
    [due.length, "to confirm or correct"],
  ];
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${factCount(count)} ${what}`);
  return said.length === 0
    ? "Nothing has expired or is to be confirmed since the last time."
    : `${said.join(", ")}. Nothing was deleted.`;
}
