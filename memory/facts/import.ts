/** A memory as a file: everything of an owner but what waits for a review; and how such a file is taken in, each record through the gate and to its own id. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { checkText, nameDenial, reviewRule } from "../policy/check-text.ts";
import type { PolicyDenial } from "../policy/verdict.ts";
import { instantSchema, type MemoryRecord, memoryRecordSchema } from "../record.ts";
import { aboutOf } from "./about.ts";
import { quarantine } from "./commit.ts";
import { conflicts } from "./confirm.ts";
import { compareText, type FactDeps, instantOf, putRecords, readAll, recordId, reread } from "./rows.ts";
import { readTombstones, type Tombstones } from "./tombstones.ts";
import type { ImportReport, Who } from "./types.ts";

/** The version of the file that is written and read here. */
export const MEMORY_FILE_VERSION = 1;

/** Schema of the file as a whole; records are read one by one, so that a damaged one does not keep out the others. */
export const memoryFileSchema = z.object({
  format: z.literal("lily-memory"),
  version: z.literal(MEMORY_FILE_VERSION),
  exported_at: instantSchema,
  records: z.array(z.unknown()),
});

/** A memory as a file: a header, and its records by time and id. */
export type MemoryExport = Omit<z.infer<typeof memoryFileSchema>, "records"> & {
  readonly records: readonly MemoryRecord[];
};

/** Everything of an owner but what waits for a review. */
export async function exportAll(deps: FactDeps, { owner }: Who): Promise<MemoryExport> {
  const { records } = await readAll(deps.store, owner);
  records.sort((a, b) => compareText(a.created_at, b.created_at) || compareText(a.id, b.id));
  return { format: "lily-memory", version: MEMORY_FILE_VERSION, exported_at: instantOf(deps), records };
}

const importedSchema = memoryRecordSchema.refine(
  ({ domain, task }) => (domain === "task_memory") === (task !== null),
  { error: "task memory has a task, and nothing else has" },
);

/**
 * Adds what is new in a memory file, with its dates and expiry. Twice is as once; what was forgotten stays away. Records are judged first and then put, oldest link first or not: a crash
 * between leaves some of them out, and the next import adds those.
 *
 * @throws {LilyError} `memory_input_invalid` for what is no memory file.
 */
export async function importAll(deps: FactDeps, who: Who, input: unknown): Promise<ImportReport> {
  const file = memoryFileSchema.safeParse(input);
  if (!file.success)
    throw new LilyError("memory_input_invalid", `this is no memory file: ${z.prettifyError(file.error)}`, {
      next: "Give a file that /memory export has made.",
    });
  const stones = await readTombstones(deps, who.owner);
  const added = new Map<string, MemoryRecord>();
  const ownIds = new Map<string, string>();
  const counts = { known: 0, quarantined: 0, forgotten: 0 };
  const denied: { index: number; denial: PolicyDenial }[] = [];
  const invalid: { index: number; reason: string }[] = [];
  for (const [index, raw] of file.data.records.entries()) {
    const { data: inFile, error } = importedSchema.safeParse(raw);
    if (inFile === undefined) {
      invalid.push({ index, reason: error.issues.map(({ message }) => message).join("; ") });
      continue;
    }
    const judged = await judgeImport(deps, who.owner, inFile, stones);
    if (judged.kind === "denied") denied.push({ index, denial: judged.denial });
    else if (judged.kind !== "add") counts[judged.kind] += 1;
    else if (added.has(judged.record.id)) counts.known += 1;
    else {
      added.set(judged.record.id, judged.record);
      ownIds.set(inFile.id, judged.record.id);
    }
  }
  for (const record of added.values())
    await putRecords(deps.store, who.owner, [relink(record, added, ownIds)]);
  const beside = added.size === 0 ? [] : (await conflicts(deps, who)).flatMap(({ records }) => records);
  const conflicting = beside.filter(({ id }) => added.has(id)).length;
  return { ...counts, added: added.size, denied, invalid, conflicts: conflicting };
}

/**
 * The record with its links by their new ids. Kept are links between records that come in together and that say the
 * same from both ends: a file must not make a record vanish that the owner has here.
 */
function relink(
  record: MemoryRecord,
  added: ReadonlyMap<string, MemoryRecord>,
  ownIds: ReadonlyMap<string, string>,
): MemoryRecord {
  const supersedes = record.supersedes.flatMap((link) => {
    const target = added.get(ownIds.get(link) ?? "");
    const isMutual = target !== undefined && ownIds.get(target.superseded_by ?? "") === record.id;
    return isMutual ? [target.id] : [];
  });
  const by = record.superseded_by;
  return { ...record, supersedes, superseded_by: by === null ? null : (ownIds.get(by) ?? by) };
}

/** What is decided; `add` is still to be put. */
type JudgedImport =
  | { readonly kind: "known" | "forgotten" | "quarantined" }
  | { readonly kind: "denied"; readonly denial: PolicyDenial }
  | { readonly kind: "add"; readonly record: MemoryRecord };

/** Judges `record`. Its id is made anew: what a file says of it is not believed. Who Lily is and how it works waits for a review. */
async function judgeImport(
  deps: FactDeps,
  owner: string,
  record: MemoryRecord,
  stones: Tombstones,
): Promise<JudgedImport> {
  const options = { scan: deps.scan, isTrusted: false };
  const verdict = await checkText(record.text, options);
  if (verdict.action === "deny") return { kind: "denied", denial: verdict.denial };
  const denial = await nameDenial([record.task], options);
  if (denial !== undefined) return { kind: "denied", denial };
  const { text } = verdict;
  if (stones.of(text).length > 0) return { kind: "forgotten" };
  const own = { ...record, text, id: recordId(owner, record, text), conflict_group: aboutOf(record) };
  if ((await reread(deps.store, owner, { ...own, review: null })) !== undefined) return { kind: "known" };
  // A record that was waiting where the file comes from goes on waiting here.
  const waiting = record.review?.state === "pending" ? record.review.rule : null;
  const rule = verdict.action === "quarantine" ? verdict.rule : (reviewRule(own) ?? waiting);
  if (rule === null) return { kind: "add", record: own };
  const review = { state: "pending", rule, at: instantOf(deps) } as const;
  await quarantine(deps, owner, { ...own, review, supersedes: [], superseded_by: null });
  return { kind: "quarantined" };
}
