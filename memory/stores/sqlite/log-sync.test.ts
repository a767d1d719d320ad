import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import type { LogFiles } from "./log-sync.ts";
import { openDatabase } from "./open-database.ts";
import { SqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";

/** A file system whose syncs end when a test says so. */
function heldFiles() {
  const opened: string[] = [];
  const waiting: ((error: Error | null) => void)[] = [];
  let closed = 0;
  const files: LogFiles = {
    open: (path) => opened.push(path),
    sync: (_descriptor, done) => void waiting.push(done),
    close: () => void (closed += 1),
  };
  return {
    files,
    opened,
    waiting,
    closed: () => closed,
    end: (error: Error | null = null) => waiting.shift()?.(error),
  };
}

/** How often SQLite was told to sync a commit itself. */
function syncsOf(db: Database): () => number {
  let count = 0;
  const pragma = db.pragma.bind(db);
  db.pragma = (source, options) => {
    if (source === "synchronous = FULL") count += 1;
    return pragma(source, options);
  };
  return () => count;
}

function open(file: string, options: Partial<SqliteStoreOptions> = {}) {
  const db = openDatabase(file);
  onTestFinished(() => void db.close());
  const syncs = syncsOf(db);
  const store = new SqliteStore(db, { clock: createManualClock(0), ...options });
  return { store, syncs, later: store.withGuard(() => undefined, { syncsLater: true }) };
}

const newFile = (): string => join(mkdtempSync(join(tmpdir(), "lily-log-")), "store.sqlite");
const put = (store: { put: SqliteStore["put"] }, key: string) => store.put(["a"], key, { text: key });

/** Whether it has come to an end by now. */
async function isDone(work: Promise<unknown>): Promise<boolean> {
  let done = false;
  const end = (): void => void (done = true);
  work.then(end, end);
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}

describe("a write that is synced later", () => {
  it("is answered at once, and is on the disk when that is waited for", async () => {
    const held = heldFiles();
    const file = newFile();
    const { store, later, syncs } = open(file, { logFiles: held.files });
    await put(later, "first");
    expect([syncs(), held.opened]).toEqual([1, [`${file}-wal`]]);
    await put(later, "second");
    expect([syncs(), held.waiting.length]).toEqual([1, 1]);
    const synced = store.synced();
    expect(await isDone(synced)).toBe(false);
    held.end();
    await synced;
  });

  it("is forced to the disk again when it came while that was being done, and once for all that came", async () => {
    const held = heldFiles();
    const { store, later } = open(newFile(), { logFiles: held.files });
    for (const key of ["first", "second", "third", "fourth"]) await put(later, key);
    const synced = store.synced();
    held.end();
    expect([await isDone(synced), held.waiting.length]).toEqual([false, 1]);
    held.end();
    await synced;
    expect(held.waiting).toHaveLength(0);
  });

  it("waits for no sync that is begun for what comes after it", async () => {
    const held = heldFiles();
    const { store, later } = open(newFile(), { logFiles: held.files });
    for (const key of ["first", "second", "third"]) await put(later, key);
    const synced = store.synced();
    held.end();
    await isDone(synced);
    await put(later, "fourth");
    held.end();
    expect(await isDone(synced)).toBe(true);
    held.end();
    await store.synced();
  });

  it("is told as failed when the disk does not take it, and so is what comes after it", async () => {
    const held = heldFiles();
    const file = newFile();
    const { store, later, syncs } = open(file, { logFiles: held.files });
    await put(later, "first");
    await put(later, "second");
    held.end(Object.assign(new Error("EIO: i/o error"), { code: "EIO", syscall: "fdatasync" }));
    await expect(store.synced()).rejects.toMatchObject({ code: "storage_failed" });
    await expect(store.synced()).rejects.toThrow(file);
    await put(later, "third");
    expect([syncs(), held.waiting.length]).toEqual([2, 0]);
  });

  it("is synced by SQLite where there is no log, and after the store was closed", async () => {
    const memory = open(":memory:");
    for (const key of ["first", "second"]) await put(memory.later, key);
    expect(memory.syncs()).toBe(2);
    const held = heldFiles();
    const { store, later, syncs } = open(newFile(), { logFiles: held.files });
    await put(later, "first");
    await put(later, "second");
    const closed = store.close();
    expect(await isDone(closed)).toBe(false);
    held.end();
    await closed;
    await put(later, "third");
    expect([syncs(), held.waiting.length, held.closed()]).toEqual([2, 0, 1]);
  });
});

describe("other writes", () => {
  it("are synced within their commit, or not at all where they need not survive a power loss", async () => {
    const held = heldFiles();
    const { store, later, syncs } = open(newFile(), {
      logFiles: held.files,
      isDurable: ([root]) => root === "a",
    });
    await put(store, "first");
    await put(store, "second");
    await later.put(["b"], "third", {});
    expect([syncs(), held.waiting.length]).toEqual([2, 0]);
    await store.synced();
  });
});

it("forces the log of a file to the disk", async () => {
  const file = newFile();
  const { store, later } = open(file);
  for (const key of ["first", "second"]) await put(later, key);
  await store.synced();
  expect(existsSync(`${file}-wal`)).toBe(true);
  await store.close();
});
