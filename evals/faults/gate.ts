/** The gate through which every call that leaves a trace passes: writing statements of SQLite, and the tool's own lines. */
import { basename } from "node:path";
import Database from "better-sqlite3";

/** One moment of a run: before or after the `n`-th call of a name. */
export interface FaultPoint {
  /** `sql store COMMIT`, `sql checkpoints INSERT writes`, `tool begins`. */
  readonly name: string;
  /** Which call of that name, from 1. */
  readonly n: number;
  readonly side: "before" | "after";
}

/** Told of every point while the gate is armed. What it throws is what the call throws. */
export type Watch = (point: FaultPoint) => void;

/** Lets calls through, and tells of them. */
export interface Gate {
  pass<T>(name: string, work: () => T): T;
  /** From here on calls are counted, from 1, and told. */
  arm(watch: Watch): void;
  disarm(): void;
}

/** Makes a gate that tells nobody yet. */
export function createGate(): Gate {
  let counts = new Map<string, number>();
  let watch: Watch | undefined;
  return {
    pass(name, work) {
      const n = (counts.get(name) ?? 0) + 1;
      counts.set(name, n);
      watch?.({ name, n, side: "before" });
      const result = work();
      watch?.({ name, n, side: "after" });
      return result;
    },
    arm(next) {
      counts = new Map();
      watch = next;
    },
    disarm() {
      watch = undefined;
    },
  };
}

/** A point as a person reads it: `before:2:sql store COMMIT`. */
export function printPoint({ name, n, side }: FaultPoint): string {
  return `${side}:${n}:${name}`;
}

/** The method of a prepared statement that is replaced, and what is read of it. */
interface StatementPrototype {
  run(this: WritingStatement, ...parameters: unknown[]): Database.RunResult;
}

interface WritingStatement {
  readonly source: string;
  readonly database: Database.Database;
}

/**
 * Lets every writing statement of this process pass `gate`. One prototype is shared by all statements of better-sqlite3,
 * those of transactions included; nothing of the product knows of it.
 *
 * @param onWrite is given the connection before the statement is carried out, e.g. to limit its size
 * @returns what takes it away again
 */
export function watchStatements(
  gate: Gate,
  onWrite: (database: Database.Database) => void = () => undefined,
): () => void {
  const prototype = statementPrototype();
  const original = prototype.run;
  const writing = new WeakSet<Database.Database>();
  prototype.run = function run(...parameters) {
    const { database, source } = this;
    const verb = verbOf(source);
    if (verb === "BEGIN IMMEDIATE") writing.add(database);
    const isCommit = verb === "COMMIT" && writing.has(database);
    if (!isCommit && !/^(?:BEGIN IMMEDIATE|INSERT|UPDATE|DELETE)/u.test(verb))
      return original.apply(this, parameters);
    onWrite(database);
    const file = basename(database.name, ".sqlite") === "store" ? "store" : "checkpoints";
    const result = gate.pass(`sql ${file} ${verb}`, () => original.apply(this, parameters));
    if (isCommit) writing.delete(database);
    return result;
  };
  return () => {
    prototype.run = original;
  };
}

function statementPrototype(): StatementPrototype {
  const db = new Database(":memory:");
  const prototype: unknown = Object.getPrototypeOf(db.prepare("SELECT 1"));
  db.close();
  return prototype as StatementPrototype;
}

/** `INSERT writes`, `UPDATE leases`, `BEGIN IMMEDIATE`, `COMMIT`. */
function verbOf(source: string): string {
  const text = source.trim().replaceAll(/\s+/gu, " ");
  const [verb = ""] = text.split(" ", 1);
  if (verb === "BEGIN") return text;
  const table = /\b(?:INTO|UPDATE|FROM) (\w+)/u.exec(text)?.[1];
  return table === undefined ? verb : `${verb} ${table}`;
}
