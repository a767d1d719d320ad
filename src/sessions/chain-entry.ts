/** One session of a chain: how it was opened and closed, which parts of it can be erased, and how its seal outlives those. */
import { z } from "zod";
import { canonicalJson } from "#src/kernel/json.ts";
import { coverOf } from "./seal.ts";
import { carriedSchema } from "./session-fields.ts";
import { rotateVerdictSchema } from "./verdict.ts";

/** How a session came to be. */
const openedSchema = z.strictObject({
  at: z.string(),
  /** The delivery that opened it, and the hash of its text; without the hash once the text was erased. */
  deliveryId: z.string(),
  textHash: z.string().optional(),
  /** Hash of the text that was left for the new session to answer; absent when there was none. */
  leftHash: z.string().optional(),
  /** Absent for the first session of a key. */
  verdict: rotateVerdictSchema.optional(),
  /** Blob with persona and skills as they were; absent where there were none. */
  snapshot: z.string().optional(),
  /** Preferences of the session before it. */
  carried: carriedSchema.optional(),
});

/** How a session was closed. */
const sealedSchema = z.strictObject({
  at: z.string(),
  turns: z.int(),
  /** Head of the transcript's hash chain at the time. */
  head: z.string(),
  seal: z.string(),
});

export const entryPartSchema = z.enum(["title", "task", "style", "kbs", "models", "opened"]);

/**
 * A part of an entry that comes from what was said: its title, the task, the style, the names of knowledge bases and the models it was handed, the hashes of
 * the texts that opened it (a short text can be guessed from its hash).
 */
export type EntryPart = z.infer<typeof entryPartSchema>;

const coverSchema = z.strictObject({
  /** Hash of salt and part: what the seal covers. */
  hash: z.string(),
  /** Goes with the part, so that the hash tells nothing of it. */
  salt: z.string().optional(),
});

/** Salted hashes that stand for the parts of an entry under its seal. */
const coversSchema = z.partialRecord(entryPartSchema, coverSchema);

export const chainEntrySchema = z.strictObject({
  sessionId: z.string(),
  /** Place in the chain, from 1. */
  ordinal: z.int().min(1),
  previous: z.string().nullable(),
  /** Seal of `previous`, so that a rewritten past shows. */
  previousSeal: z.string().nullable(),
  /** Sessions whose transcripts this one reads as its own past, oldest first. */
  continues: z.array(z.string()),
  /** Last turn that is read of a continued session, where that is not all of it. */
  continuesUpTo: z.record(z.string(), z.int()).optional(),
  opened: openedSchema,
  title: z.string().optional(),
  /** Absent while it is open, and in entries of earlier versions, whose seals cover the parts themselves. */
  covers: coversSchema.optional(),
  /** Present once the session is archived. */
  sealed: sealedSchema.optional(),
});

/** One session of a chain. */
export type ChainEntry = z.infer<typeof chainEntrySchema>;

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
  const bare = structuredClone(entry);
  const { carried } = bare.opened;
  for (const part of parts) {
    delete bare.covers?.[part]?.salt;
    if (part === "title") delete bare.title;
    else if (part === "opened") {
      delete bare.opened.textHash;
      delete bare.opened.leftHash;
    } else if (part === "models" && carried !== undefined) {
      carried.model = null;
      delete carried.controlModel;
    } else if (part !== "models") delete carried?.[part];
  }
  return bare;
}

/** The entry with a cover for each part that it has; done once, when it is sealed. */
export function coverParts(entry: ChainEntry, salt: () => string): ChainEntry {
  const covers = ENTRY_PARTS.flatMap((part) => {
    const text = partOf(entry, part);
    if (text === undefined) return [];
    const own = salt();
    return [[part, { hash: coverOf(part, text, own), salt: own }] as const];
  });
  return { ...entry, covers: Object.fromEntries(covers) };
}

/** What a seal covers of the entry: in place of parts that have covers, their hashes. */
export function sealedFacts(entry: ChainEntry): object {
  const covered = ENTRY_PARTS.filter((part) => entry.covers?.[part] !== undefined);
  const { sealed: _sealed, ...facts } = withoutParts(entry, covered);
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

export const redactionSchema = z.strictObject({
  sessionId: z.string(),
  /** ISO instant of the erasure. */
  at: z.string(),
  /** Numbers of the turns, ascending. */
  turns: z.array(z.int().min(1)).optional(),
  /** Parts of the session's chain entry. */
  parts: z.array(entryPartSchema).optional(),
});

/** What was erased of one session at one time. */
export type Redaction = z.infer<typeof redactionSchema>;
