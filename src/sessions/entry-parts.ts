/** The parts of a chain entry that can be erased: what they say, and how a seal covers them so that it outlives them. */
import { canonicalJson } from "#src/kernel/json.ts";
import { entryPartSchema, type ChainEntry, type Covers, type EntryPart } from "./chain-entry.ts";
import { coverOf } from "./seal.ts";

/** All parts. */
const ENTRY_PARTS: readonly EntryPart[] = entryPartSchema.options;

/** What a part says, `undefined` where the entry has none. */
export function partOf(entry: ChainEntry, part: EntryPart): string | undefined {
  switch (part) {
    case "title":
      return entry.title;
    case "task":
      return entry.opened.carried?.task;
    case "style":
      return entry.opened.carried?.style;
    case "kbs":
      return entry.opened.carried?.kbs?.join("\n");
    case "models": {
      const { model = null, controlModel = null } = entry.opened.carried ?? {};
      return model === null && controlModel === null ? undefined : canonicalJson([model, controlModel]);
    }
    case "opened": {
      const { leftHash, textHash } = entry.opened;
      return textHash === undefined && leftHash === undefined
        ? undefined
        : canonicalJson([textHash ?? null, leftHash ?? null]);
    }
  }
}

/** The entry without some of its parts and their salts. */
export function withoutParts(entry: ChainEntry, parts: readonly EntryPart[]): ChainEntry {
  const { covers } = entry;
  const bare = parts.reduce(withoutPart, entry);
  if (covers === undefined) return bare;
  return {
    ...bare,
    covers: mapCovers(covers, (part, { hash, salt }) =>
      parts.includes(part) ? { hash } : { hash, ...(salt === undefined ? {} : { salt }) },
    ),
  };
}

function withoutPart(entry: ChainEntry, part: EntryPart): ChainEntry {
  switch (part) {
    case "title": {
      const { title: _title, ...rest } = entry;
      return rest;
    }
    case "task":
    case "style":
    case "kbs":
    case "models": {
      if (entry.opened.carried === undefined) return entry;
      const carried = { ...entry.opened.carried };
      if (part === "models") {
        carried.model = null;
        delete carried.controlModel;
      } else delete carried[part];
      return { ...entry, opened: { ...entry.opened, carried } };
    }
    case "opened": {
      const { leftHash: _left, textHash: _text, ...opened } = entry.opened;
      return { ...entry, opened };
    }
  }
}

/** The entry with a cover for each part that it has; done once, when it is sealed. */
export function coverParts(entry: ChainEntry, salt: () => string): ChainEntry {
  const covers: Covers = {};
  for (const part of ENTRY_PARTS) {
    const text = partOf(entry, part);
    if (text === undefined) continue;
    const own = salt();
    covers[part] = { hash: coverOf(part, text, own), salt: own };
  }
  return { ...entry, covers };
}

/** What a seal covers of the entry: in place of parts that have covers, their hashes. */
export function sealedFacts(entry: ChainEntry): object {
  const { sealed: _sealed, ...open } = entry;
  if (entry.covers === undefined) return open;
  const covered = ENTRY_PARTS.filter((part) => entry.covers?.[part] !== undefined);
  const { sealed: _also, ...facts } = withoutParts(entry, covered);
  return facts;
}

/** Parts that were taken out of an entry whose seal covers them as they were: it cannot be computed any more. */
export function uncoveredOf(entry: ChainEntry, erased: readonly EntryPart[]): readonly EntryPart[] {
  return erased.filter((part) => entry.covers?.[part] === undefined && partOf(entry, part) === undefined);
}

/** What is wrong with the parts of an entry, given those whose erasure is on record. */
export function partProblems(entry: ChainEntry, erased: readonly EntryPart[]): string[] {
  return ENTRY_PARTS.flatMap((part) => {
    const text = partOf(entry, part);
    const cover = entry.covers?.[part];
    const isErased = erased.includes(part);
    if (isErased && (text !== undefined || cover?.salt !== undefined))
      return [`${NAMES[part]}: the erasure did not finish`];
    if (cover === undefined || isErased) return [];
    const isSealed =
      text !== undefined && cover.salt !== undefined && coverOf(part, text, cover.salt) === cover.hash;
    return isSealed ? [] : [`${NAMES[part]} is not the one that was sealed`];
  });
}

const NAMES: Record<EntryPart, string> = {
  title: "its title",
  task: "its task",
  style: "its style",
  kbs: "its knowledge bases",
  models: "its models",
  opened: "the hash of the text that opened it",
};

function mapCovers(
  covers: Covers,
  change: (part: EntryPart, cover: NonNullable<Covers[EntryPart]>) => NonNullable<Covers[EntryPart]>,
): Covers {
  const changed: Covers = {};
  for (const part of ENTRY_PARTS) {
    const cover = covers[part];
    if (cover !== undefined) changed[part] = change(part, cover);
  }
  return changed;
}
