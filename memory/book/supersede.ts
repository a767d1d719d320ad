/** The links between a record and what it replaced. */
import { recordNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { instantOf, type Desk } from "./desk.ts";
import {
  dropReplacement,
  isAbandoned,
  noteReplacement,
  readReplacements,
  replacing,
  type Replacement as Note,
} from "./replacements.ts";
import { putRecord, readRecord, reread } from "./rows.ts";

/** A record that was written, and what it replaces as it was read for that. */
interface Replacement {
  readonly by: MemoryRecord;
  readonly replaced: readonly MemoryRecord[];
}

/** Puts a record that takes the place of others; {@link markSuperseded} has to follow. */
export async function putReplacing(desk: Desk, owner: string, by: MemoryRecord): Promise<void> {
  await noteReplacement(desk, owner, by);
  await putRecord(desk.store, owner, by);
}

/**
 * Marks `replaced` as superseded by `by`. One that another process has changed since it was read stays as it is, and so
 * does all when `by` was itself replaced meanwhile: two that replace each other at once must not both vanish.
 *
 * @returns the records that were marked, as they are now
 */
export async function markSuperseded(
  desk: Desk,
  owner: string,
  { by, replaced }: Replacement,
): Promise<MemoryRecord[]> {
  const marked: MemoryRecord[] = [];
  let isOpen = false;
  for (const known of replaced) {
    const [self, current] = await Promise.all([
      reread(desk.store, owner, by),
      reread(desk.store, owner, known),
    ]);
    if (self === undefined || self.superseded_by !== null) break;
    if (current === undefined) continue;
    if (current.updated_at !== known.updated_at) {
      isOpen = true;
      continue;
    }
    const supersedes = current.supersedes.filter((id) => id !== by.id);
    const record = {
      ...current,
      supersedes,
      superseded_by: by.id,
      verification_due: false,
      updated_at: instantOf(desk),
    };
    await putRecord(desk.store, owner, record);
    marked.push(record);
  }
  // What was changed meanwhile has no mark: the note goes on telling readers which of the two came later.
  if (replaced.length > 0 && !isOpen) await dropReplacement(desk, owner, by.id);
  return marked;
}

/**
 * Ends what a crash has left between a record and the marks on those that it replaced; of notes that somebody may be at
 * work on only where `all` says so.
 */
export async function finishReplacements(
  desk: Desk,
  owner: string,
  { all = false }: { readonly all?: boolean } = {},
): Promise<void> {
  for (const note of await readReplacements(desk, owner)) {
    if (all || isAbandoned(note, desk.clock.now())) await finish(desk, owner, note);
  }
}

async function finish(desk: Desk, owner: string, note: Note): Promise<void> {
  const by = await replacing(desk, owner, note);
  const others = await Promise.all(
    note.replaced.map((id) => readRecord(desk.store, owner, recordNamespace(owner, note), id)),
  );
  const replaced = others.filter((other) => other !== undefined && isOlder(other, by));
  if (by !== undefined) await markSuperseded(desk, owner, { by, replaced: replaced.filter(isThere) });
  await dropReplacement(desk, owner, note.by);
}

/** As a fold over all records decides: a record that was written later than its replacement stays. */
function isOlder(other: MemoryRecord, by: MemoryRecord | undefined): boolean {
  return by !== undefined && other.superseded_by === null && other.updated_at < by.updated_at;
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined;
}

/** Takes the link to a revived record out of the one that had replaced it. `revived` is as it was before. */
export async function unlink(desk: Desk, owner: string, revived: MemoryRecord): Promise<void> {
  if (revived.superseded_by === null) return;
  const other = await readRecord(desk.store, owner, recordNamespace(owner, revived), revived.superseded_by);
  if (other === undefined || !other.supersedes.includes(revived.id)) return;
  await putRecord(desk.store, owner, {
    ...other,
    supersedes: other.supersedes.filter((id) => id !== revived.id),
  });
}
