/** Notes of replacements under way, so that reading a few records can draw the conclusion that a fold over all would. */
import { z } from "zod";
import { fromInstant } from "#src/kernel/clock.ts";
import { recordNamespace, replacementNamespace } from "../namespaces.ts";
import { DOMAINS, instantSchema, scopeSchema, taskSchema, type MemoryRecord } from "../record.ts";
import { instantOf, type Desk } from "./desk.ts";
import { readItems, readRecord } from "./rows.ts";

const replacementSchema = z.strictObject({
  schema_version: z.literal(1),
  /** Where the new record lies; its id is the key. */
  domain: z.enum(DOMAINS),
  scope: scopeSchema,
  task: taskSchema.nullable(),
  replaced: z.array(z.uuid()),
  at: instantSchema,
});

/** A new record takes the place of others, which may not be marked yet. */
export type Replacement = z.infer<typeof replacementSchema> & { readonly by: string };

/** Notes that `by` takes the place of what it supersedes. Comes before it is put, so that no crash leaves it out. */
export async function noteReplacement(desk: Desk, owner: string, by: MemoryRecord): Promise<void> {
  if (by.supersedes.length === 0) return;
  const { domain, scope, task, supersedes } = by;
  const note = { schema_version: 1, domain, scope, task, replaced: supersedes, at: instantOf(desk) };
  await desk.store.put(replacementNamespace(owner), by.id, note, false);
}

/** Takes the note away, once every mark is written. */
export async function dropReplacement(desk: Desk, owner: string, by: string): Promise<void> {
  await desk.store.delete(replacementNamespace(owner), by);
}

/** The notes of `owner`; nearly always none. */
export async function readReplacements(
  { store }: Pick<Desk, "store">,
  owner: string,
): Promise<Replacement[]> {
  const items = await readItems(store, replacementNamespace(owner));
  return items.flatMap(({ key, value }): Replacement[] => {
    const parsed = replacementSchema.safeParse(value);
    return parsed.success ? [{ ...parsed.data, by: key }] : [];
  });
}

/** The record that a note is about; `undefined` when a crash came before it. */
export async function replacing(
  desk: Desk,
  owner: string,
  note: Replacement,
): Promise<MemoryRecord | undefined> {
  return readRecord(desk.store, owner, recordNamespace(owner, note), note.by);
}

/** Whether whoever wrote the note has had more than enough time for the rest. */
export function isAbandoned({ at }: Replacement, nowMs: number): boolean {
  return nowMs - fromInstant(at) >= ABANDONED_AFTER_MS;
}

const ABANDONED_AFTER_MS = 60_000;
