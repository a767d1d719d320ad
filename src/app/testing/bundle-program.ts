/** Makes one file of a program that a test starts: compiling it while it starts takes ten times as long. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");
/** Within `node_modules`, so that native modules are found from there. */
const OUT = join(ROOT, "node_modules/.cache/lily-programs");

/** Code that was written for CommonJS asks for `require`. */
const BANNER = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

const bundled = new Map<string, string>();

/** Bundles the program `file` once a process. @returns the path of the bundle, which goes with the process */
export function bundleProgram(file: string): string {
  const known = bundled.get(file);
  if (known !== undefined) return known;
  const outfile = join(OUT, `${basename(file, ".ts")}-${process.pid}-${bundled.size}.mjs`);
  execFileSync(join(ROOT, "node_modules/.bin/esbuild"), [
    file,
    "--bundle",
    "--platform=node",
    "--format=esm",
    "--target=node20",
    "--log-level=error",
    "--external:better-sqlite3",
    "--external:@langchain/openai",
    "--external:pg",
    `--banner:js=${BANNER}`,
    `--outfile=${outfile}`,
  ]);
  bundled.set(file, outfile);
  process.once("exit", () => rmSync(outfile, { force: true }));
  return outfile;
}
