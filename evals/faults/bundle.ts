/** Makes one file of a program of this folder, so that starting it takes a fraction of the time. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
/** Within `node_modules`, so that native modules are found from there. */
const OUT = join(ROOT, "node_modules/.cache/lily-faults");

/** Code that was written for CommonJS asks for `require`. */
const BANNER = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/** Bundles `evals/faults/<name>.ts`. @returns the path of the program */
export function bundle(name: string): string {
  const outfile = join(OUT, `${name}-${process.pid}.mjs`);
  execFileSync(join(ROOT, "node_modules/.bin/esbuild"), [
    join(import.meta.dirname, `${name}.ts`),
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
  process.once("exit", () => rmSync(outfile, { force: true }));
  return outfile;
}
