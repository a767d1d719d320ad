/** Files that commands read and write for the person at this terminal. */
import { constants, statSync } from "node:fs";
import { open, realpath, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, parse, resolve } from "node:path";
import { buffer as readAll } from "node:stream/consumers";
import { decodeText } from "#src/kernel/decode-text.ts";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import type { EvidenceFile } from "#memory/evidence/read-document.ts";
import type { CommandFiles } from "#src/commands/command.ts";
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
  const placeOf = (path: string): string =>
    resolve(folder, path.startsWith("~/") ? join(home, path.slice(2)) : path);
  /** The reason, and for a relative path where it was looked for. */
  const whyAt = (error: unknown, path: string): string =>
    codeOf(error) === "ENOENT" && !path.startsWith("~/") && !isAbsolute(path)
      ? `${reasonOf(error)} in ${folder}`
      : reasonOf(error);
  const readBytes: CommandFiles["readBytes"] = async (path, maxBytes) => {
    try {
      return await readOrdinary(path, await realpath(placeOf(path)), maxBytes);
    } catch (error) {
      throw isLilyError(error) ? error : fileFailed(path, "cannot be read", whyAt(error, path));
    }
  };
  return {
    async read(path) {
      const { text, problem } = decodeText((await readBytes(path, MAX_TEXT_BYTES)).bytes);
      if (text !== undefined) return text;
      // In no known encoding it would be read with other letters than were written.
      throw new LilyError("file_failed", `${path} ${problem}`, {
        next: "Save it as UTF-8, and give it again. Nothing was changed.",
      });
    },
    readBytes,
    async write(path, text, place) {
      const target = place === "kept" ? join(kept, path) : placeOf(path);
      try {
        if (place === "kept") return await writeNumbered(kept, path, text);
        await writeNew(target, text);
        return target;
      } catch (error) {
        const why = codeOf(error) === "EEXIST" && isFolder(target) ? IS_FOLDER : whyAt(error, path);
        throw fileFailed(place === "kept" ? target : path, "cannot be written", why);
      }
    },
  };
}

/** Text that is read as a whole: an export of far more than 100,000 facts. */
const MAX_TEXT_BYTES = 200_000_000;

/** A new file with all of `text`, or none: half of it, on a full disk, would look like an export. */
async function writeNew(target: string, text: string): Promise<void> {
  const file = await open(target, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

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
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

/** A device or pipe would never end, or wait for ever. */
async function readOrdinary(shown: string, path: string, maxBytes: number): Promise<EvidenceFile> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile())
      throw fileFailed(shown, "cannot be read", facts.isDirectory() ? IS_FOLDER : "it is no ordinary file");
    // One byte more than may be, as `end` is read too.
    const bytes = await readAll(file.createReadStream({ end: maxBytes, autoClose: false }));
    if (bytes.length <= maxBytes) return { path, bytes };
    throw new LilyError("file_too_large", `${shown} is larger than ${maxBytes / 1_000_000} MB`, {
      next: "Split it, and give the parts. Nothing was stored.",
    });
  } finally {
    await file.close();
  }
}

const IS_FOLDER = "it is a folder";

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is no folder",
  EISDIR: IS_FOLDER,
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
