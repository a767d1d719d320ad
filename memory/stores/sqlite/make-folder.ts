/** Makes a folder and those above it, and fails at once where none can be made. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes `folder` for its owner alone, with what is missing above it. Step by step: where the system says that a new
 * folder does not exist (`/proc`), Node's own recursion never ends.
 *
 * @throws what the file system says
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another program may have made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}
