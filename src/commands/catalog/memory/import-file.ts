/** Reads a memory file for `/memory import`, or says why it is none, in words that quote nothing of it. */
import { LilyError } from "#src/kernel/errors.ts";
import { MEMORY_FILE_VERSION, memoryFileSchema } from "#memory/facts/export.ts";

/**
 * The file as it was parsed, with the header of a memory file.
 *
 * @throws {LilyError} `memory_input_invalid`
 */
export function parseMemoryFile(text: string, path: string): { readonly records: readonly unknown[] } {
  const parsed = json(text, path);
  const file = memoryFileSchema.safeParse(parsed);
  if (file.success) return file.data;
  const { format, version } = headerOf(parsed);
  if (format !== "lily-memory") throw invalid(`${path} is JSON, but no memory file of Lily`);
  if (typeof version === "number" && version > MEMORY_FILE_VERSION)
    throw invalid(
      `${path} was written by a newer Lily: version ${version} of the file, and this one reads version ${MEMORY_FILE_VERSION}`,
      "Update Lily, and import it again.",
    );
  const fields = [...new Set(file.error.issues.map((issue) => String(issue.path[0] ?? "")))];
  throw invalid(`${path} is a damaged memory file: ${fields.join(", ")} cannot be read`);
}

function json(text: string, path: string): unknown {
  if (text.trim() === "") throw invalid(`${path} is empty`);
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says of the place would quote the file.
    const isBegun = text.trimStart().startsWith("{");
    throw invalid(isBegun ? `${path} is no whole JSON; a part of it may be missing` : `${path} is no JSON`);
  }
}

function headerOf(parsed: unknown): { readonly format?: unknown; readonly version?: unknown } {
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}

function invalid(message: string, next = "Give a file that /memory export wrote."): LilyError {
  return new LilyError("memory_input_invalid", message, { next: `${next} Nothing was changed.` });
}
