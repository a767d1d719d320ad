/** Makes one file of a program of this folder, so that starting it takes a fraction of the time. */
import { join } from "node:path";
import { bundleProgram } from "#src/app/testing/bundle-program.ts";

/** Bundles `evals/faults/<name>.ts`. @returns the path of the program */
export function bundle(name: string): string {
  return bundleProgram(join(import.meta.dirname, `${name}.ts`));
}
