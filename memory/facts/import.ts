/** A memory as a file: everything of an owner but what waits for a review; and how such a file is taken in, each record through the gate and to its own id. */
import { z } from "zod";
import { assertOwner } from "../namespaces.ts";
import { instantSchema, type MemoryRecord, memoryRecordSchema } from "../record.ts";
import { type FactDeps, instantOf } from "./fact-deps.ts";
import { compareText, putRecord, readAll, recordId, reread } from "./rows.ts";
import type { ImportReport, Who } from "./types.ts";
import { checkText, reviewRule } from "../policy/check-text.ts";
import type { PolicyDenial, PolicyRule } from "../policy/verdict.ts";
import { aboutOf } from "./about.ts";
import { quarantine } from "./remember.ts";
import { liftTombstones, readTombstones, type Tombstones } from "./tombstones.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { conflicts } from "./confirm.ts";

/** Records to be added by their own id, and the own ids by those in the file. */
interface Additions {
  readonly records: Map<string, MemoryRecord>;
  readonly ids: Map<string, string>;
}

/**
 * Imports `input`; see `FactStore.importAll`. Records are judged first and then put, oldest link first or not: a crash
 * between leaves some of them out, and the next import adds those.
 *
 * @throws {LilyError} `memory_input_invalid` for what is no memory file.
 */
export async function importAll(
  deps: FactDeps,
  who: Who,
  input: unknown,
  options: ImportOptions = {},
): Promise<ImportReport> {
  assertOwner(who.owner);
  const file = memoryFileSchema.safeParse(input);
  if (!file.success) throw notAFile(file.error);
  const stones = await readTombstones(deps, who.owner);
  const additions: Additions = { records: new Map(), ids: new Map() };
  const counts = { known: 0, quarantined: 0, forgotten: 0 };
  const denied: { index: number; denial: PolicyDenial }[] = [];
  const invalid: { index: number; reason: string }[] = [];
  for (const [index, raw] of file.data.records.entries()) {
    const parsed = parse(raw);
    if (typeof parsed === "string") {
      invalid.push({ index, reason: parsed });
      continue;
    }
    const judged = add(additions, parsed, await judgeImport(deps, who.owner, parsed, { ...options, stones }));
    if (judged.kind === "denied") denied.push({ index, denial: judged.denial });
    else if (judged.kind !== "add") counts[judged.kind] += 1;
  }
  for (const record of additions.records.values())
    await putRecord(deps.store, who.owner, relink(record, additions));
  return {
    ...counts,
    added: additions.records.size,
    denied,
    invalid,
    conflicts: await countConflicts(deps, who, additions),
  };
}

/** The record, or why it is none. */
function parse(raw: unknown): MemoryRecord | string {
  const parsed = memoryRecordSchema.safeParse(raw);
  if (!parsed.success) return z.prettifyError(parsed.error);
  const isTask = parsed.data.domain === "task_memory";
  return isTask === (parsed.data.task !== null)
    ? parsed.data
    : "task memory has a task, and nothing else has";
}

/** Notes what is to be added; the second of two equal facts in a file is known. */
function add({ records, ids }: Additions, inFile: MemoryRecord, judged: JudgedImport): JudgedImport {
  if (judged.kind !== "add") return judged;
  if (records.has(judged.record.id)) return { kind: "known" };
  records.set(judged.record.id, judged.record);
  ids.set(inFile.id, judged.record.id);
  return judged;
}

/**
 * The record with its links by their new ids. Kept are links between records that come in together and that say the
 * same from both ends: a file must not make a record vanish that the owner has here.
 */
function relink(record: MemoryRecord, { records, ids }: Additions): MemoryRecord {
  const supersedes = record.supersedes.flatMap((link) => {
    const target = records.get(ids.get(link) ?? "");
    const isMutual = target !== undefined && ids.get(target.superseded_by ?? "") === record.id;
    return isMutual ? [target.id] : [];
  });
  const by = record.superseded_by;
  return { ...record, supersedes, superseded_by: by === null ? null : (ids.get(by) ?? by) };
}

/** How many of the added records stand beside others about the same. */
async function countConflicts(deps: FactDeps, who: Who, { records }: Additions): Promise<number> {
  if (records.size === 0) return 0;
  const all = await conflicts(deps, who);
  return all.flatMap((conflict) => conflict.records).filter(({ id }) => records.has(id)).length;
}

function notAFile(error: z.ZodError): LilyError {
  return new LilyError("memory_input_invalid", `this is no memory file: ${z.prettifyError(error)}`, {
    next: "Give a file that /memory export has made.",
  });
}

/** Options of an import. */
export interface ImportOptions {
  /** The owner vouches for the file: instructions in it are let in. Secrets never are. */
  readonly isTrusted?: boolean;
  /** Brings back what the owner has forgotten. */
  readonly revive?: boolean;
}

/** What is decided; `add` is still to be put. */
export type JudgedImport =
  | { readonly kind: "known" | "forgotten" | "quarantined" }
  | { readonly kind: "denied"; readonly denial: PolicyDenial }
  | { readonly kind: "add"; readonly record: MemoryRecord };

/** Judges `record`. Its id is made anew: what a file says of it is not believed. Who Lily is and how it works waits for a review. */
async function judgeImport(
  deps: FactDeps,
  owner: string,
  record: MemoryRecord,
  { stones, isTrusted = false, revive = false }: ImportOptions & { readonly stones: Tombstones },
): Promise<JudgedImport> {
  const verdict = await checkText(record.text, { scan: deps.scan, isTrusted });
  if (verdict.action === "deny") return { kind: "denied", denial: verdict.denial };
  const ofTask =
    record.task === null
      ? undefined
      : await checkText(record.task, { scan: deps.scan, isTrusted, isName: true });
  if (ofTask?.action === "deny") return { kind: "denied", denial: ofTask.denial };
  const { text } = verdict;
  if (stones.of(text).length > 0) {
    if (!revive) return { kind: "forgotten" };
    await liftTombstones(deps, owner, text);
  }
  const own = { ...record, text, id: recordId(owner, record, text), conflict_group: aboutOf(record) };
  if ((await reread(deps.store, owner, { ...own, review: null })) !== undefined) return { kind: "known" };
  const rule =
    verdict.action === "quarantine" ? verdict.rule : (reviewRule(own, { isTrusted }) ?? pendingRule(record));
  if (rule === null) return { kind: "add", record: own };
  const review = { state: "pending", rule, at: instantOf(deps) } as const;
  await quarantine(deps, owner, { ...own, review, supersedes: [], superseded_by: null });
  return { kind: "quarantined" };
}

/** A record that was waiting where the file comes from goes on waiting here. */
function pendingRule({ review }: MemoryRecord): PolicyRule | null {
  return review?.state === "pending" ? review.rule : null;
}

/** The version of the file that is written and read here. */
export const MEMORY_FILE_VERSION = 1;

/** Schema of the file as a whole; records are read one by one, so that a damaged one does not keep out the others. */
export const memoryFileSchema = z.object({
  format: z.literal("lily-memory"),
  version: z.literal(MEMORY_FILE_VERSION),
  exported_at: instantSchema,
  records: z.array(z.unknown()),
});

export const memoryExportSchema = memoryFileSchema.extend({ records: z.array(memoryRecordSchema) });

/** A memory as a file: a header, and its records by time and id. */
export type MemoryExport = z.infer<typeof memoryExportSchema>;

/** Everything of an owner; see `FactStore.exportAll`. */
export async function exportAll(deps: FactDeps, who: Who): Promise<MemoryExport> {
  assertOwner(who.owner);
  const records = (await readAll(deps.store, who.owner)).sort(
    (a, b) => compareText(a.created_at, b.created_at) || compareText(a.id, b.id),
  );
  return { format: "lily-memory", version: MEMORY_FILE_VERSION, exported_at: instantOf(deps), records };
}
