/** Stands between this process and the calls that change a folder: each is a point of a gate. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import Database from "better-sqlite3";
import type { Gate } from "./gate.ts";

/** Those that upkeep makes; what is read is no point. */
const CALLS = [
  "chmodSync",
  "createWriteStream",
  "fsyncSync",
  "linkSync",
  "mkdirSync",
  "renameSync",
  "rmSync",
  "writeFileSync",
] as const;

type Call = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Lets the calls on files of `folder` pass `gate`, and what better-sqlite3 does with a whole database: `fs renameSync`,
 * `db store VACUUM`. Statements are points by `watchStatements`.
 *
 * @returns what takes it away again
 */
export function watchFolder(gate: Gate, folder: string): () => void {
  const isInside = (path: unknown): boolean => typeof path === "string" && path.startsWith(folder);
  const undo = [
    ...CALLS.map((name) =>
      replaceCall(
        fs,
        name,
        (original) =>
          function call(this: unknown, ...args) {
            const passes = isInside(args[0]) || typeof args[0] === "number";
            return passes
              ? gate.passNow(`fs ${name}`, () => original.apply(this, args))
              : original.apply(this, args);
          },
      ),
    ),
    ...(["exec", "backup"] as const).map((name) =>
      replaceCall(
        Database.prototype,
        name,
        (original) =>
          function call(this: unknown, ...args) {
            const file = this instanceof Database ? basename(this.name, ".sqlite") : "";
            const what = name === "exec" ? String(args[0]).trim().split(/\s/u, 1)[0] : name;
            return gate.passNow(`db ${file} ${what}`, () => original.apply(this, args));
          },
      ),
    ),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const back of undo) back();
    syncBuiltinESMExports();
  };
}

/** What is replaced is a function of a module or a class, whose types say nothing of being replaced. */
function replaceCall(on: object, name: string, make: (original: Call) => Call): () => void {
  const holder = on as Record<string, Call>;
  const original = holder[name];
  if (original === undefined) throw new Error(`there is no ${name}`);
  holder[name] = make(original);
  return () => {
    holder[name] = original;
  };
}
