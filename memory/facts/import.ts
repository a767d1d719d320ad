/** Takes a memory file in: each record through the gate and to its own id; what is known or forgotten stays as it is. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { assertOwner } from "../namespaces.ts";
import type { PolicyDenial } from "../policy/verdict.ts";
import { memoryRecordSchema, type MemoryRecord } from "../record.ts";
import { conflicts } from "./confirm.ts";
import type { FactDeps } from "./fact-deps.ts";
import { memoryFileSchema } from "./export.ts";
import { judgeImport, type ImportOptions, type JudgedImport } from "./judge-import.ts";
import { putRecord } from "./rows.ts";
import { readTombstones } from "./tombstones.ts";
import type { ImportReport, Who } from "./types.ts";

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
