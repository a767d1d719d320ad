/** Resident memory that a store adds to a fresh process: opened, then searched by words and vectors. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

const PROGRAM = fileURLToPath(new URL("store-memory-process.ts", import.meta.url));

const run = promisify(execFile);

/** Bytes that opening `file` and searching it added, in a process of its own. */
export async function searchMemory(file: string, records: number): Promise<number> {
  const { stdout } = await run(process.execPath, ["--import", "tsx", PROGRAM, file, String(records)]);
  return z.number().parse(JSON.parse(stdout));
}
