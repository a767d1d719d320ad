/** Reads a set of labelled texts: a file of JSON lines in this folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";

/** The lines of `file`, each checked by `schema`. */
export function readLines<T>(file: string, schema: z.ZodType<T>): T[] {
  const lines = readFileSync(join(import.meta.dirname, file), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => schema.parse(JSON.parse(line)));
}
