/** `/memory export` and `/memory import`: all facts of an owner as one file, for the person at this machine. What is told quotes nothing of it. */
import { toInstant } from "#src/kernel/clock.ts";
import { done } from "#src/kernel/envelope.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { defined, parseJson } from "#src/kernel/json.ts";
import { counted } from "#src/kernel/markdown.ts";
import { MEMORY_FILE_VERSION, memoryFileSchema } from "#memory/facts/import.ts";
import { committed } from "../../command.ts";
import { nextOf, noneReadable, reportText, unreadable } from "./import-report.ts";
import { filesOf, type MemoryAction, pathOf } from "./memory-action.ts";

/** `/memory export [path]`. */
export const exportAction: MemoryAction = {
  words: "export",
  usage: "[path]",
  summary: "write all of it to a new file; without a path beside what Lily keeps",
  reads: true,
  async run(args, context) {
    const { memory, nowMs } = context;
    const files = filesOf(context);
    const exported = await memory.facts.exportAll(memory.who);
    const text = `${JSON.stringify(exported, null, 2)}\n`;
    const path =
      args === ""
        ? await files.write(`lily-memory-${toInstant(nowMs).slice(0, 10)}.json`, text, "kept")
        : await files.write(pathOf(args), text);
    const records = exported.records.length;
    return done("memory_exported", `${counted(records, "fact")} written to ${path}.`, {
      next: "/memory import <path> reads it, here or elsewhere; the file is not encrypted.",
      data: { path, records },
    });
  },
};

/** `/memory import <path>`. */
export const importAction: MemoryAction = {
  words: "import",
  usage: "<path>",
  summary: "read facts from such a file; what is known or was forgotten is left out",
  asks: "which file?",
  async run(args, context) {
    const { facts, who } = context.memory;
    const path = pathOf(args);
    const file = parseMemoryFile(await filesOf(context).read(path), path);
    const report = await facts.importAll(who, file).catch((error: unknown) => {
      // Facts are put one by one: what goes wrong between is told with what that leaves.
      if (!isLilyError(error)) throw error;
      throw new LilyError(error.code, error.message, {
        next: `${error.next ?? ""} Some facts may have come in; the same import again adds the others.`.trim(),
        cause: error,
      });
    });
    const left = unreadable(report, file.records);
    const nothing = noneReadable(report, left);
    if (nothing !== undefined)
      throw invalid(
        `${path} was not imported: ${nothing}`,
        "Give a file that this version of /memory export wrote.",
      );
    const denied = report.denied.map(({ index, denial }) => ({ index, rule: denial.rule }));
    return committed("memory_imported", reportText(report, left), {
      ...defined({ next: nextOf(report) }),
      data: { path, ...report, denied, invalid: left },
    });
  },
};

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
  const value = parseJson(text);
  if (value !== undefined) return value;
  // What the parser says of the place would quote the file.
  const isBegun = text.trimStart().startsWith("{");
  throw invalid(isBegun ? `${path} is no whole JSON; a part of it may be missing` : `${path} is no JSON`);
}

function headerOf(parsed: unknown): { readonly format?: unknown; readonly version?: unknown } {
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}

function invalid(message: string, next = "Give a file that /memory export wrote."): LilyError {
  return new LilyError("memory_input_invalid", message, { next: `${next} Nothing was changed.` });
}
