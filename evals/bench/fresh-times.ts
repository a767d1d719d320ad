/** Starts fresh processes on a folder and tells what resuming a conversation took them. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { percentile } from "./measure.ts";

/** Schema of {@link FreshTimes}. */
const freshTimesSchema = z.strictObject({
  /** From the start of the process until everything is imported. */
  importedMs: z.number(),
  /** Opening the files and building the agent. */
  openMs: z.number(),
  /** Reading where the conversation stands. */
  readMs: z.number(),
  /** The first message to its answer. */
  answerMs: z.number(),
  /** Live heap at the end. */
  heapBytes: z.number(),
  /** Resident memory at the end. */
  rssBytes: z.number(),
});

/** Times and memory of a fresh process. */
export type FreshTimes = z.infer<typeof freshTimesSchema>;

/** What a fresh process does. */
export interface FreshTask {
  readonly subject: "lily" | "plain" | "floor";
  readonly folder: string;
  readonly conversation: string;
  /** `only-import`: a bare process that imports the same and ends. */
  readonly mode: "open" | "only-import";
}

const PROGRAM = fileURLToPath(new URL("fresh-process.ts", import.meta.url));

const run = promisify(execFile);

/** The middle of each number in `runs` processes, one after the other. */
export async function freshTimes(task: FreshTask, runs: number): Promise<FreshTimes> {
  const all: FreshTimes[] = [];
  while (all.length < runs) all.push(await onePass(task));
  return medians(all);
}

/** The middle of each number by itself. */
export function medians(all: readonly FreshTimes[]): FreshTimes {
  const middle = (key: keyof FreshTimes): number =>
    percentile(
      all.map((times) => times[key]),
      0.5,
    );
  return {
    importedMs: middle("importedMs"),
    openMs: middle("openMs"),
    readMs: middle("readMs"),
    answerMs: middle("answerMs"),
    heapBytes: middle("heapBytes"),
    rssBytes: middle("rssBytes"),
  };
}

async function onePass({ subject, folder, conversation, mode }: FreshTask): Promise<FreshTimes> {
  const args = ["--import", "tsx", PROGRAM, subject, folder, conversation, mode];
  const { stdout } = await run(process.execPath, args);
  return freshTimesSchema.parse(JSON.parse(stdout));
}
