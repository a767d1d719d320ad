/** What is told of an import: the counts, and of each record that did not come in which one it is and why. */
import { memoryRecordSchema } from "#memory/record.ts";
import type { ImportReport } from "#memory/facts/types.ts";
import { POLICY_RULES } from "#memory/policy/verdict.ts";

/** Records of one reason that are named by their numbers. */
const NAMED = 3;

/** A record that did not come in. */
export interface LeftOutRecord {
  /** Its place in the file, from 0. */
  readonly index: number;
  readonly reason: string;
}

/** The records that could not be read, with reasons in words that quote nothing of them. */
export function unreadable(
  { invalid }: Pick<ImportReport, "invalid">,
  records: readonly unknown[],
): readonly LeftOutRecord[] {
  return invalid.map(({ index, reason }) => ({ index, reason: reasonOf(records[index]) ?? reason }));
}

/** The report as sentences. */
export function reportText(report: ImportReport, left: readonly LeftOutRecord[]): string {
  const denied = report.denied.map(({ index, denial }) => ({ index, reason: POLICY_RULES[denial.rule] }));
  const counts: readonly (readonly [number, string])[] = [
    [report.added, "new"],
    [report.known, "known already"],
    [report.quarantined, "put aside for a review"],
    [report.forgotten, "forgotten before and left out"],
    [denied.length, `refused by the policy${places(denied)}`],
    [left.length, `not readable${places(left)}`],
  ];
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  if (said.length === 0) return "The file holds no facts.";
  const { conflicts } = report;
  const beside =
    conflicts === 0
      ? ""
      : ` ${conflicts} of the new ones ${conflicts === 1 ? "does" : "do"} not agree with what is remembered, and both are kept.`;
  return `${said.join(", ")}.${beside}`;
}

/**
 * Why nothing of the file could be taken; `undefined` when something could.
 *
 * Such a file is refused as a whole: “imported” would not be true.
 */
export function noneReadable(report: ImportReport, left: readonly LeftOutRecord[]): string | undefined {
  const { added, known, quarantined, forgotten, denied } = report;
  const isAny = added + known + quarantined + forgotten + denied.length > 0;
  return isAny || left.length === 0 ? undefined : `no record of it can be read${places(left)}`;
}

/** What can be done about what did not simply come in; `undefined` when all did. */
export function nextOf(report: ImportReport): string | undefined {
  const steps = [
    report.quarantined === 0 ? "" : "/memory review shows what was put aside.",
    report.conflicts === 0 ? "" : "/memory conflicts lists what does not agree.",
    report.denied.length + report.invalid.length === 0
      ? ""
      : "The other records came in; correct these in the file and import it again: what is known stays as it is.",
  ].filter((step) => step !== "");
  return steps.length === 0 ? undefined : steps.join(" ");
}

/** Each reason once, with the records it is about. */
function places(records: readonly LeftOutRecord[]): string {
  if (records.length === 0) return "";
  const byReason = new Map<string, number[]>();
  for (const { index, reason } of records) byReason.set(reason, [...(byReason.get(reason) ?? []), index + 1]);
  return ` (${[...byReason].map(([reason, numbers]) => `${reason}: ${recordsText(numbers)}`).join("; ")})`;
}

function recordsText(numbers: readonly number[]): string {
  const more = numbers.length - NAMED;
  const named = numbers.slice(0, NAMED).join(", ");
  return `record${numbers.length === 1 ? "" : "s"} ${named}${more > 0 ? ` and ${more} more` : ""}`;
}

const INSTANTS = new Set(["created_at", "updated_at", "expires_at", "last_verified"]);

/** What the schema has against a record; `undefined` when that is not it. */
function reasonOf(raw: unknown): string | undefined {
  if (typeof raw !== "object" || raw === null) return "it is no record";
  if ("schema_version" in raw && typeof raw.schema_version === "number" && raw.schema_version > 1)
    return "a newer Lily wrote it";
  const issue = memoryRecordSchema.safeParse(raw).error?.issues[0];
  if (issue === undefined) return undefined;
  if (issue.code === "unrecognized_keys") return unknownField(issue.keys);
  const name = String(issue.path[0] ?? "");
  if (!(name in raw)) return `${name} is missing`;
  return INSTANTS.has(name)
    ? `${name} is no time such as 2026-01-31T08:00:00.000Z`
    : `${name} is not as it has to be`;
}

/** A name that is a plain word is told; anything else may be a piece of somebody's text. */
function unknownField([key = ""]: readonly string[]): string {
  return /^[a-z_]{1,24}$/iu.test(key) ? `no record has a field ${key}` : "it has a field that no record has";
}
