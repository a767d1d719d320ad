/** Copies and hashes files so that what is said to be on disk is there. */
import { createHash } from "node:crypto";
import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { errorMessage, LilyError, type ErrorCode } from "#src/kernel/errors.ts";

/** A file as it is on disk. */
export interface FileFacts {
  readonly bytes: number;
  /** Lower case hex. */
  readonly sha256: string;
}

/** Modes of what upkeep writes. */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const PROGRAM_MODE = 0o700;

/** Copies `source` to `target`, which must not exist, and syncs it. Returns what was written. */
export async function copyWhole(
  source: string,
  target: string,
  options: { readonly executable?: boolean | undefined } = {},
): Promise<FileFacts> {
  makeFolder(dirname(target));
  const facts = createFacts();
  const mode = options.executable === true ? PROGRAM_MODE : FILE_MODE;
  await pipeline(createReadStream(source), facts.through, createWriteStream(target, { flags: "wx", mode }));
  syncPath(target);
  return facts.read();
}

/** Size and hash of a file. */
export async function factsOf(path: string): Promise<FileFacts> {
  const facts = createFacts();
  for await (const _chunk of facts.through(createReadStream(path)));
  return facts.read();
}

/** Waits until a file, or the names in a folder, are on the disk itself. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** What became of a file by the code of the system's error, and what to do about it. */
const FILE_ERRORS: ReadonlyMap<unknown, readonly [ErrorCode, string]> = new Map([
  ["ENOSPC", ["storage_full", "Free some space and try again."]],
  ["EDQUOT", ["storage_full", "Free some space and try again."]],
  ["EACCES", ["storage_readonly", "Check that the files and folders belong to you."]],
  ["EPERM", ["storage_readonly", "Check that the files and folders belong to you."]],
  ["EROFS", ["storage_readonly", "The file system is read-only; name a folder elsewhere."]],
  [
    "EBUSY",
    ["storage_failed", "A mounted folder cannot be renamed: set LILY_HOME to a folder inside or beside it."],
  ],
  [
    "EXDEV",
    ["storage_failed", "A mounted folder cannot be renamed: set LILY_HOME to a folder inside or beside it."],
  ],
]);

/** The error to throw for a file that could not be read or written. */
export function fileError(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return error;
  const [code, next] = FILE_ERRORS.get(error.code) ?? [
    "storage_failed",
    "Check that the files and folders belong to you.",
  ];
  return new LilyError(code, `${what}: ${errorMessage(error)}`, { next, cause: error });
}

/** Whether `error` says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function createFacts() {
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    async *through(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    },
    read: (): FileFacts => ({ bytes, sha256: hash.digest("hex") }),
  };
}
