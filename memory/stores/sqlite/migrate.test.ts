import { describe, expect, it } from "vitest";
import { migrate, type DatabaseSchema } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";

const STEPS = ["CREATE TABLE t (a)", "ALTER TABLE t ADD COLUMN b DEFAULT 7"];

/** A schema of which each version adds a step. */
const schema = (version: number, more = ""): DatabaseSchema => ({
  applicationId: 7,
  version,
  upgrade: (db, from) => db.exec([...STEPS.slice(from, version), more].join(";")),
});

describe("migrate", () => {
  it("brings a file up to date from the version that it has, once", () => {
    const db = openDatabase(":memory:");
    migrate(db, schema(1));
    db.exec("INSERT INTO t VALUES (1)");
    migrate(db, schema(2));
    migrate(db, schema(2));
    expect(db.prepare("SELECT * FROM t").all()).toEqual([{ a: 1, b: 7 }]);
    expect(db.pragma("user_version", { simple: true })).toBe(2);
    expect(db.pragma("application_id", { simple: true })).toBe(7);
  });

  it("leaves a file as it was when it fails", () => {
    const db = openDatabase(":memory:", { schema: schema(1) });
    expect(() => migrate(db, schema(2, "INSERT INTO t VALUES (1, 2); SELECT nonsense"))).toThrow("nonsense");
    expect(db.pragma("user_version", { simple: true })).toBe(1);
    expect(db.prepare("SELECT count(*) FROM t").pluck().get()).toBe(0);
    migrate(db, schema(2));
    expect(db.pragma("user_version", { simple: true })).toBe(2);
  });

  it("refuses a version beyond its own", () => {
    const db = openDatabase(":memory:", { schema: schema(2) });
    expect(() => migrate(db, schema(1))).toThrow(expect.objectContaining({ code: "storage_newer" }));
  });
});
