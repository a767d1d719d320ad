/** Public data about memory, read from a folder: what replaced what, whose it is, and what a dialogue calls to mind. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";

/** Files that are read: tenurehq/precisionMemBench and hejunqing/MADial-Bench, both under the MIT licence. */
const MEMORY_FILES = {
  precision: "precisionmembench.json.gz",
  madial: "madial-en.json.gz",
} as const;

const idsSchema = z.object({
  mustInclude: z.array(z.string()).optional(),
  mustExclude: z.array(z.string()).optional(),
  shouldOnlyInclude: z.array(z.string()).optional(),
});

const precisionSchema = z.object({
  "beliefs.seed": z.array(
    z.object({
      _id: z.string(),
      user_id: z.string(),
      content: z.string().min(1),
      canonical_name: z.string(),
      aliases: z.array(z.string()),
      why_it_matters: z.string(),
      pinned: z.boolean(),
      scope: z.array(z.string()).min(1),
      superseded_by: z.string().nullable(),
    }),
  ),
  "retrieval.cases": z.array(
    z.object({
      caseId: z.string(),
      scope: z.array(z.string()),
      query: z.string(),
      userId: z.string().optional(),
      budget: z.object({ maxBeliefs: z.int().optional() }).optional(),
      expect: z.object({
        relevantBeliefs: idsSchema.optional(),
        pinnedFacts: idsSchema.optional(),
        openQuestions: idsSchema.optional(),
      }),
    }),
  ),
});

/** Beliefs, some of which replaced others, and questions with what may be given. */
export type PrecisionData = z.infer<typeof precisionSchema>;

const madialSchema = z.object({
  dialogues: z.array(
    z.object({
      dialogue: z.array(z.string()),
      "test-turn": z.array(z.int()).min(1),
      "relevant-id": z.array(z.int()).min(1),
      "user-id": z.int(),
    }),
  ),
  memories: z.array(z.record(z.string(), z.object({ time: z.string(), event: z.string().min(1) }))),
});

/** Dialogues of children with what of the past belongs to one of their turns. */
export type MadialData = z.infer<typeof madialSchema>;

/** The first data set; `undefined` when its file is not in `folder`. */
export function readPrecision(folder: string): PrecisionData | undefined {
  const parsed = readJson(join(folder, MEMORY_FILES.precision));
  return parsed === undefined ? undefined : precisionSchema.parse(parsed);
}

/** The second one; likewise. */
export function readMadial(folder: string): MadialData | undefined {
  const parsed = readJson(join(folder, MEMORY_FILES.madial));
  return parsed === undefined ? undefined : madialSchema.parse(parsed);
}

/** A packed JSON file; `undefined` when there is none. */
export function readJson(path: string): unknown {
  return existsSync(path) ? JSON.parse(gunzipSync(readFileSync(path)).toString("utf8")) : undefined;
}
