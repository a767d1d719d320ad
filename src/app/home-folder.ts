/** Where the home folder is. Loads nothing, because the terminal asks before it shows its prompt. */
import { resolve } from "node:path";

/** The home folder: `LILY_HOME` where it is set and not blank, else `.lily` in `cwd`. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  const wanted = env["LILY_HOME"]?.trim() ?? "";
  return resolve(cwd, wanted === "" ? ".lily" : wanted);
}
