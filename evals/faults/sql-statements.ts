/** Stands between better-sqlite3 and every statement that changes a database of this process. */
import { basename } from "node:path";
import Database from "better-sqlite3";
import type { Gate } from "./gate.ts";

/** The methods of a prepared statement that are replaced, and what they read of it. */
interface StatementPrototype {
  run(this: WritingStatement, ...parameters: unknown[]): Database.RunResult;
}

interface WritingStatement {
  readonly source: string;
  readonly database: Database.Database;
}

/** A connection that was seen writing, e.g. to limit its size. */
export type OnDatabase = (database: Database.Database) => void;

/**
 * Lets every writing statement of this process pass `gate`: `sql store BEGIN`, `sql checkpoints INSERT writes`. One
 * prototype is shared by all statements, those of transactions included; nothing of the product knows of it.
 *
 * @returns what takes it away again
 */
export function watchStatements(gate: Gate, onDatabase: OnDatabase = () => undefined): () => void {
  const prototype = statementPrototype();
  const original = prototype.run;
  const writing = new WeakSet<Database.Database>();
  prototype.run = function run(...parameters) {
    const { database, source } = this;
    const verb = verbOf(source);
    if (verb === "BEGIN IMMEDIATE") writing.add(database);
    const isEnd = verb === "COMMIT" || verb === "ROLLBACK";
    const isWrite = isEnd ? writing.has(database) : /^(?:BEGIN IMMEDIATE|INSERT|UPDATE|DELETE)/u.test(verb);
    if (!isWrite || verb === "ROLLBACK") return original.apply(this, parameters);
    onDatabase(database);
    const name = `sql ${fileWord(database.name)} ${verb}`;
    const result = gate.passNow(name, () => original.apply(this, parameters));
    if (isEnd) writing.delete(database);
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

function fileWord(path: string): string {
  return basename(path, ".sqlite") === "store" ? "store" : "checkpoints";
}
