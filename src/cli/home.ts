/** Where the home folder is, without loading what reads the configuration in it. */
import { resolve } from "node:path";

/** The home folder: `LILY_HOME`, by default `.lily` in `cwd`; the same rule as the configuration's. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  return resolve(cwd, env["LILY_HOME"] ?? ".lily");
}
