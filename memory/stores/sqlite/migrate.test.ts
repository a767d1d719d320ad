import { describe, expect, it } from "vitest";
import { migrate, type DatabaseSchema } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";

const createTable: DatabaseSchema["migrations"][number] = (db) => db.exec("CREATE TABLE t (a)");
const addColumn: DatabaseSchema["migrations"][number] = (db) =>
  db.exec("ALTER TABLE t ADD COLUMN b DEFAULT 7");
const fail: DatabaseSchema["migrations"][number] = (db) => {
  db.exec("INSERT INTO t (a) VALUES ('half done')");
  throw new Error("the power went");
};

const schema = (...migrations: DatabaseSchema["migrations"]): DatabaseSchema => ({
  applicationId: 7,
  migrations,
});

describe("migrate", () => {
  it("runs the steps that a file has not had, once each and in order", () => {
    const db = openDatabase(":memory:");
    migrate(db, schema(createTable));
    db.exec("INSERT INTO t VALUES (1)");
    migrate(db, schema(createTable, addColumn));
    migrate(db, schema(createTable, addColumn));
    expect(db.prepare("SELECT * FROM t").all()).toEqual([{ a: 1, b: 7 }]);
    expect(db.pragma("user_version", { simple: true })).toBe(2);
    expect(db.pragma("application_id", { simple: true })).toBe(7);
  });

  it("undoes a step that fails and keeps those before it", () => {
    const db = openDatabase(":memory:");
    expect(() => migrate(db, schema(createTable, fail))).toThrow("the power went");
    expect(db.pragma("user_version", { simple: true })).toBe(1);
    expect(db.prepare("SELECT count(*) FROM t").pluck().get()).toBe(0);
    migrate(db, schema(createTable, addColumn));
    expect(db.pragma("user_version", { simple: true })).toBe(2);
  });

  it("refuses a version beyond its own", () => {
    const db = openDatabase(":memory:", { schema: schema(createTable, addColumn) });
    expect(() => migrate(db, schema(createTable))).toThrow(
      expect.objectContaining({ code: "storage_newer" }),
    );
  });
});
