/** One session of a chain: how it was opened, how it was closed, and what of it can be erased after that. */
import { z } from "zod";
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

const coversSchema = z.strictObject({
  title: coverSchema.optional(),
  task: coverSchema.optional(),
  style: coverSchema.optional(),
  kbs: coverSchema.optional(),
  models: coverSchema.optional(),
  opened: coverSchema.optional(),
});

/** Salted hashes that stand for the parts of an entry under its seal. */
export type Covers = z.infer<typeof coversSchema>;

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
