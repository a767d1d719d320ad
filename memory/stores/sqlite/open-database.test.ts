import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const open = (file: string) => openDatabase(file, { schema: STORE_SCHEMA });
const newFile = (): string => join(temporaryFolder(), "store.sqlite");
const clock = createManualClock(0);

/** Every file of the folder with its bytes: what "untouched" means. */
function bytesBeside(file: string): Record<string, string> {
  const folder = join(file, "..");
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "base64")]),
  );
}

describe("openDatabase", () => {
  it("makes a file and folder for its owner only, in WAL mode, that erases what is deleted", () => {
    const file = join(temporaryFolder(), "deep", "er", "store.sqlite");
    const db = open(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    const pragmas = ["journal_mode", "secure_delete", "synchronous", "busy_timeout", "application_id"];
    expect(pragmas.map((name) => db.pragma(name, { simple: true }))).toEqual(["wal", 1, 1, 50, 0x4c696c79]);
    db.close();
    expect(readdirSync(join(file, ".."))).toEqual(["store.sqlite"]);
  });

  it("syncs each commit to disk when asked to", () => {
    const db = openDatabase(newFile(), { synchronous: "FULL" });
    expect(db.pragma("synchronous", { simple: true })).toBe(2);
    db.close();
  });

  it("leaves the tables of a file without schema to others", () => {
    const db = openDatabase(newFile());
    expect(db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get()).toBe(0);
    expect(db.pragma("user_version", { simple: true })).toBe(0);
    db.close();
  });
});

describe("openDatabase on a damaged file", () => {
  it.each([
    ["zero bytes", Buffer.alloc(16_384)],
    ["text", Buffer.from("this is no database ".repeat(100))],
    [
      "a torn header",
      Buffer.from("SQLite format 3\u0000 and then nothing that makes sense".padEnd(200, "?")),
    ],
  ])("names a file of %s and keeps it", (_what, bytes) => {
    const file = newFile();
    writeFileSync(file, bytes);
    expect(() => open(file)).toThrow(
      expect.objectContaining({ code: "storage_damaged", message: expect.stringContaining(file) as unknown }),
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(readdirSync(join(file, ".."))).toEqual(["store.sqlite"]);
  });

  it("reports one bad page where it is read, and goes on with the others", async () => {
    const file = newFile();
    const first = open(file);
    const filler = new SqliteStore(first, { clock, index: { fields: false } });
    for (let n = 0; n < 200; n += 1) await filler.put(["n"], `k${n}`, { text: `item ${n} `.repeat(60) });
    first.close();
    damage(file, "item 150 ");
    const db = open(file);
    onTestFinished(() => void db.close());
    const store = new SqliteStore(db, { clock, index: { fields: false } });
    expect((await store.get(["n"], "k1"))?.value).toBeDefined();
    const refusal = { code: "storage_damaged", message: expect.stringContaining(file) as unknown };
    await expect(store.search(["n"], { limit: 1000 })).rejects.toMatchObject(refusal);
    await store.put(["m"], "new", { text: "still works" });
    expect((await store.get(["m"], "new"))?.value).toEqual({ text: "still works" });
  });
});

/** Overwrites the page that holds `text`. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file);
  const pageSize = bytes.readUInt16BE(16);
  const page = Math.floor(bytes.indexOf(text) / pageSize) * pageSize;
  bytes.fill(0xee, page, page + pageSize);
  writeFileSync(file, bytes);
}

describe("openDatabase on a file of another program", () => {
  it("refuses a newer version and changes no byte", () => {
    const file = newFile();
    const db = open(file);
    db.pragma(`user_version = ${STORE_SCHEMA.version + 1}`);
    db.close();
    const before = bytesBeside(file);
    expect(() => open(file)).toThrow(
      expect.objectContaining({ code: "storage_newer", message: expect.stringContaining(file) as unknown }),
    );
    expect(bytesBeside(file)).toEqual(before);
  });

  it("sees a newer version that a crash left in the log, and leaves file and log as they are", () => {
    const file = newFile();
    open(file).close();
    const driver = JSON.stringify(new URL(import.meta.resolve("better-sqlite3")).pathname);
    const program = `
      const db = require(${driver})(${JSON.stringify(file)});
      db.pragma("user_version = 99");
      process.kill(process.pid, "SIGKILL");`;
    spawnSync(process.execPath, ["-e", program]);
    expect(existsSync(`${file}-wal`)).toBe(true);
    const { "store.sqlite-shm": _shared, ...before } = bytesBeside(file);
    expect(() => open(file)).toThrow(expect.objectContaining({ code: "storage_newer" }));
    expect(bytesBeside(file)).toMatchObject(before);
  });

  it("refuses a database that says it is another program's", () => {
    const file = newFile();
    const db = openDatabase(file);
    db.pragma("application_id = 42");
    db.close();
    expect(() => open(file)).toThrow(expect.objectContaining({ code: "storage_failed" }));
  });
});

// root may write everything, so the test becomes somebody else for a moment; elsewhere the mode is enough.
function withoutRoot(work: () => void): void {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    work();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

describe("openDatabase where writing is not allowed", () => {
  const refusal = (file: string) =>
    expect.objectContaining({
      code: "storage_readonly",
      message: expect.stringContaining(file) as unknown,
    }) as Error;

  it("names a read-only file", () => {
    const file = newFile();
    open(file).close();
    chmodSync(join(file, ".."), 0o755);
    chmodSync(file, 0o444);
    const before = bytesBeside(file);
    withoutRoot(() => expect(() => open(file)).toThrow(refusal(file)));
    expect(bytesBeside(file)).toEqual(before);
  });

  it("names a file in a read-only folder, new or old", () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "data"), { mode: 0o555 });
    const file = join(folder, "data", "store.sqlite");
    withoutRoot(() => {
      expect(() => open(file)).toThrow(refusal(file));
      const deeper = join(folder, "data", "new", "store.sqlite");
      expect(() => open(deeper)).toThrow(refusal(deeper));
    });
  });
});
