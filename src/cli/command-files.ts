/** Files that commands read and write for the person at this terminal. */
import { constants } from "node:fs";
import { open, readFile, realpath, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, parse, resolve } from "node:path";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import type { CommandFiles, FileBytes } from "#src/commands/command.ts";
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";

/** Where files of commands lie. */
export interface CommandFolders {
  /** From where paths are read. */
  readonly folder: string;
  /** For files that nobody has named. */
  readonly kept: string;
  /** The person's home folder, which is `~`. */
  readonly home?: string;
}

/** Files for commands. A file that is there is never written over; a new one is for its owner alone. */
export function commandFiles({ folder, kept, home = homedir() }: CommandFolders): CommandFiles {
  return {
    async read(path) {
      return readFile(resolve(folder, path), "utf8").catch((error: unknown) => {
        throw fileFailed(path, "cannot be read", reasonOf(error));
      });
    },
    async readBytes(path, maxBytes) {
      const named = path.startsWith("~/") ? join(home, path.slice(2)) : path;
      try {
        return await readOrdinary(path, await realpath(resolve(folder, named)), maxBytes);
      } catch (error) {
        throw isLilyError(error) ? error : fileFailed(path, "cannot be read", reasonOf(error));
      }
    },
    async write(path, text, place) {
      const target = place === "kept" ? join(kept, path) : resolve(folder, path);
      try {
        if (place === "kept") return await writeNumbered(kept, path, text);
        await writeNew(target, text);
        return target;
      } catch (error) {
        throw fileFailed(place === "kept" ? target : path, "cannot be written", reasonOf(error));
      }
    },
  };
}

async function writeNew(target: string, text: string): Promise<void> {
  await writeFile(target, text, { flag: "wx", mode: 0o600 });
}

/** Most files of one name. */
const MAX_NUMBER = 1_000;

/** `facts.json`, else `facts-2.json`, and so on. */
async function writeNumbered(folder: string, fileName: string, text: string): Promise<string> {
  const { name, ext } = parse(fileName);
  makeFolder(folder);
  for (let number = 1; ; number += 1) {
    const target = join(folder, number === 1 ? fileName : `${name}-${number}${ext}`);
    try {
      await writeNew(target, text);
      return target;
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || number === MAX_NUMBER) throw error;
    }
  }
}

const READ_BYTES = 262_144;

/** A device or pipe would never end, or wait for ever. */
async function readOrdinary(shown: string, path: string, maxBytes: number): Promise<FileBytes> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile())
      throw fileFailed(
        shown,
        "cannot be read",
        facts.isDirectory() ? "it is a folder" : "it is no ordinary file",
      );
    const parts: Buffer[] = [];
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES));
      if (bytesRead === 0) return { path, bytes: Buffer.concat(parts) };
      parts.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
      if (length > maxBytes) throw tooLarge(shown, maxBytes);
    }
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is no folder",
  EISDIR: "it is a folder",
  EACCES: "this user may not",
  EPERM: "this user may not",
  EROFS: "it is on a disk that is read only",
  ENOSPC: "the disk is full",
  EEXIST: "it is there already, and nothing is written over",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
};

/** Why the system refused, in words where there are some. */
function reasonOf(error: unknown): string {
  return REASONS[codeOf(error)] ?? errorMessage(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function fileFailed(path: string, what: string, why: string): LilyError {
  return new LilyError("file_failed", `${path} ${what}: ${why}`, {
    next: "Give the path of another file. Nothing was changed.",
  });
}

function tooLarge(path: string, maxBytes: number): LilyError {
  return new LilyError("file_too_large", `${path} is larger than ${maxBytes / 1_000_000} MB`, {
    next: "Split it, and give the parts. Nothing was stored.",
  });
}
