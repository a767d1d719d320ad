/** What a fact is about: a short slug (`conflict_group`), by which a later fact takes the place of an earlier one. */
import { LilyError } from "#src/kernel/errors.ts";
import type { MemoryRecord } from "../record.ts";

const MAX_LENGTH = 40;

/**
 * The slug of what a person or a model wrote: `Home address` is `home-address`, in any script, up to 40 characters.
 *
 * @throws {LilyError} `memory_input_invalid` where nothing or too much is left of it.
 */
export function slugOf(about: string): string {
  const slug = slugged(about);
  if (slug !== "" && slug.length <= MAX_LENGTH) return slug;
  throw new LilyError("memory_input_invalid", "what a fact is about is a word or two", {
    next: "Name it shortly, such as home, employer or sister-name, or leave it out.",
  });
}

/**
 * What a stored record is about. Version 0.1 wrote groups of its own: those of attributes (`attribute:home`) mean the same, all
 * others mean nothing any more.
 */
export function aboutOf({ conflict_group }: Pick<MemoryRecord, "conflict_group">): string | null {
  const group = conflict_group?.replace(/^attribute:/u, "") ?? "";
  if (/^(?:denial|opinion|prefer|rule):/u.test(group)) return null;
  const slug = slugged(group);
  return slug === "" ? null : slug;
}

/** Those of `others` that are about the same as `record`, in the same domain, task and scope; itself left out. */
export function sameAbout(record: MemoryRecord, others: readonly MemoryRecord[]): MemoryRecord[] {
  const about = aboutOf(record);
  if (about === null) return [];
  return others.filter(
    (other) =>
      other.id !== record.id &&
      aboutOf(other) === about &&
      other.domain === record.domain &&
      other.task === record.task &&
      other.scope === record.scope,
  );
}

function slugged(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/gu, "");
}
