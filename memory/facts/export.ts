/** The file form of a memory: everything of an owner but what waits for a review, in an order that does not change. */
import { z } from "zod";
import { assertOwner } from "../namespaces.ts";
import { instantSchema, memoryRecordSchema } from "../record.ts";
import { instantOf, type FactDeps } from "./fact-deps.ts";
import { compareText, readAll } from "./rows.ts";
import type { Who } from "./types.ts";

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
