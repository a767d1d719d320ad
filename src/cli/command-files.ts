/** Files that commands read and write for the person at this terminal. */
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandFiles } from "#src/commands/command.ts";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";

/** Files by their path from `folder`. A file that is there is never written over; a new one is for its owner alone. */
export function commandFiles(folder: string): CommandFiles {
  return {
    async read(path) {
      return readFile(resolve(folder, path), "utf8").catch((error: unknown) => {
        throw fileFailed(path, "cannot be read", error);
      });
    },
    async write(path, text) {
      const target = resolve(folder, path);
      await writeFile(target, text, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
        throw fileFailed(path, "cannot be written", error);
      });
      return target;
    },
  };
}

function fileFailed(path: string, what: string, error: unknown): LilyError {
  return new LilyError("file_failed", `${path} ${what}: ${errorMessage(error)}`, {
    next: "Give the path of another file. Nothing was changed.",
  });
}
