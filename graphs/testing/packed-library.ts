/** The library as npm would install it in an empty folder. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** Packs and installs it. @returns the folder. Without `types` it is built as `npm pack` does it, but for the types. */
export function installLibrary({ types }: { readonly types: boolean }): string {
  const app = mkdtempSync(join(tmpdir(), "lily-library-"));
  const npm = (...args: string[]) => execFileSync("npm", args, { cwd: ROOT, encoding: "utf8" });
  if (!types) npm("run", "--silent", "prepack", "--", "--no-dts");
  const noScripts = types ? [] : ["--ignore-scripts"];
  const packed = npm("pack", "--silent", "--pack-destination", app, ...noScripts)
    .trim()
    .split("\n")
    .at(-1);
  const installed = join(app, "node_modules", "lily");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["xzf", join(app, packed ?? ""), "-C", installed, "--strip-components=1"]);
  // What npm would install beside it; tsx, which the terminal program needs, is left out.
  const from = join(ROOT, "node_modules");
  for (const name of readdirSync(from))
    if (!name.startsWith(".") && name !== "tsx" && name !== "lily")
      symlinkSync(join(from, name), join(app, "node_modules", name));
  writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module" }));
  return app;
}
