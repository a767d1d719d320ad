import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import Database from "better-sqlite3";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type Clock } from "#src/kernel/clock.ts";

import type { StorageBackend } from "../backend.ts";
import { describeBackendContract } from "../testing/backend-contract.ts";
import { countingGraph } from "../testing/counting-graph.ts";
import { createMemoryBackend, openSqliteBackend } from "./sqlite-backend.ts";

const START = Date.parse("2026-03-01T09:00:00.000Z");
const LEASE_MS = 30_000;
const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

let dir: string;
let opened: StorageBackend[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lily-storage-"));
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((backend) => backend.close()));
  rmSync(dir, { recursive: true, force: true });
});

function open(
  clock: Clock = createManualClock(START),
  options: { readonly leaseMs?: number } = {},
): StorageBackend {
  const backend = openSqliteBackend({
    checkpointPath: join(dir, "checkpoints", "checkpointer.sqlite"),
    storePath: join(dir, "memory", "store.sqlite"),
    clock,
    ...options,
  });
  opened.push(backend);
  return backend;
}

describeBackendContract("sqlite", () => open());

describe("the SQLite backend's files", () => {
  it("leaves no log behind when it is closed", async () => {
    const backend = open();
    await backend.store.put(["n"], "k", { n: 1 });
    await backend.close();
    const files = ["checkpoints", "memory"].flatMap((folder) => readdirSync(join(dir, folder)));
    expect(files.sort()).toEqual(["checkpointer.sqlite", "store.sqlite"]);
  });

  it("keeps what was written when it is opened again", async () => {
    const first = open();
    await first.store.put(["n"], "k", { n: 1 });
    await first.close();
    expect((await open().store.get(["n"], "k"))?.value).toEqual({ n: 1 });
  });

  it("says which file is damaged, and leaves neither open", () => {
    writeFileSync(join(dir, "broken.sqlite"), "this is no database, whatever its name says ".repeat(40));
    const openBroken = (): StorageBackend =>
      openSqliteBackend({
        checkpointPath: join(dir, "checkpointer.sqlite"),
        storePath: join(dir, "broken.sqlite"),
        clock: systemClock,
      });
    expect(openBroken).toThrow(/broken\.sqlite/u);
    expect(existsSync(join(dir, "checkpointer.sqlite-wal"))).toBe(false);
  });
});

describe("a store file that is not the one of the checkpoints", () => {
  const storeFile = () => join(dir, "memory", "store.sqlite");
  const checkpointFile = () => join(dir, "checkpoints", "checkpointer.sqlite");

  /** A home with a conversation, closed. */
  async function conversation(): Promise<void> {
    const backend = open();
    await countingGraph(backend.checkpointer).run("t", 1);
    await backend.store.put(["n"], "k", { n: 1 });
    await backend.close();
  }

  it.each<[string, () => void]>([
    ["is missing", () => rmSync(storeFile())],
    ["is missing with its folder", () => rmSync(join(dir, "memory"), { recursive: true })],
    ["is empty", () => writeFileSync(storeFile(), "")],
    ["is empty", () => emptyDatabase(storeFile())],
  ])("is refused when it %s, and nothing is written (F-1)", async (problem, damage) => {
    await conversation();
    damage();
    const before = [filesIn(dir), readFileSync(checkpointFile(), "base64")];
    expect(() => open()).toThrow(
      expect.objectContaining({
        code: "storage_damaged",
        message: expect.stringContaining(problem.slice(0, 8)),
      }),
    );
    expect([filesIn(dir), readFileSync(checkpointFile(), "base64")]).toEqual(before);
  });

  it("is made anew where there are no checkpoints either", async () => {
    await open().close();
    rmSync(storeFile());
    await open().store.put(["n"], "k", { n: 1 });
  });

  it.each<[string, () => void]>([
    ["removed", () => rmSync(storeFile())],
    ["replaced", () => replaceFile(storeFile())],
  ])("is noticed by the next write when it is %s while it is in use (R-5)", async (what, remove) => {
    const backend = open();
    const lease = await backend.locks.acquire("k");
    await backend.store.put(["n"], "k", { n: 1 });
    remove();
    const refused = { code: "storage_damaged", message: expect.stringContaining(what) as unknown };
    await expect(backend.store.put(["n"], "k", { n: 2 })).rejects.toMatchObject(refused);
    await expect(backend.fencedStore(lease).put(["n"], "k", { n: 2 })).rejects.toMatchObject(refused);
    const batch = backend.store.batch([{ namespace: ["n"], key: "k", value: null }]);
    await expect(batch).rejects.toMatchObject(refused);
  });
});

const filesIn = (folder: string) => readdirSync(folder, { recursive: true }).sort();

function emptyDatabase(file: string): void {
  rmSync(file);
  const db = new Database(file);
  db.exec("VACUUM");
  db.close();
}

/** Puts a copy in the file's place, as a restore does. */
function replaceFile(file: string): void {
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
}

describe("leases in SQLite", () => {
  it("pass to another backend when they have run out, and a late release does not end the new one", async () => {
    const clock = createManualClock(START);
    const later = createManualClock(START + LEASE_MS);
    const stalled = await open(clock, { leaseMs: LEASE_MS }).locks.acquire("k");
    const taken = await open(later, { leaseMs: LEASE_MS }).locks.acquire("k", { waitMs: 1_000 });
    expect(taken.token).toBe(stalled.token + 1);
    await stalled.release();
    const third = open(later).locks.acquire("k", { waitMs: 60 });
    await expect(third).rejects.toMatchObject({ code: "lease_timeout" });
  });

  it("are not taken a millisecond before they run out", async () => {
    await open(createManualClock(START), { leaseMs: LEASE_MS }).locks.acquire("k");
    const early = open(createManualClock(START + LEASE_MS - 1)).locks.acquire("k", { waitMs: 60 });
    await expect(early).rejects.toMatchObject({ code: "lease_timeout" });
  });

  it("abort `lost` at the renewal that finds a newer grant", async () => {
    const stalled = await open(createManualClock(START), { leaseMs: 60 }).locks.acquire("k");
    await open(createManualClock(START + 1_000)).locks.acquire("k", { waitMs: 1_000 });
    if (!stalled.lost.aborted)
      await new Promise((resolve) => stalled.lost.addEventListener("abort", resolve));
    expect(stalled.lost.reason).toMatchObject({ code: "lease_lost" });
  });

  it("last as long as they are renewed", async () => {
    const holder = await open(systemClock, { leaseMs: 600 }).locks.acquire("k");
    await expect(open(systemClock).locks.acquire("k", { waitMs: 1_000 })).rejects.toMatchObject({
      code: "lease_timeout",
    });
    expect(holder.lost.aborted).toBe(false);
  });

  it("are given back when the backend is closed", async () => {
    const first = open();
    await first.locks.acquire("k");
    await first.close();
    await open().locks.acquire("k", { waitMs: 1_000 });
  });

  it("let the waiters of the same process in when they are lost", async () => {
    const backend = open(createManualClock(START), { leaseMs: 60 });
    const stalled = await backend.locks.acquire("k");
    const other = open(createManualClock(START + 1_000));
    await (await other.locks.acquire("k", { waitMs: 1_000 })).release();
    const next = backend.locks.acquire("k", { waitMs: 5_000 });
    await stalled.release();
    await (await next).release();
  });
});

describe("a backend in memory", () => {
  it("keeps two backends apart, and says that nothing is kept", async () => {
    const one = createMemoryBackend({ clock: createManualClock(START) });
    const other = createMemoryBackend({ clock: createManualClock(START) });
    opened.push(one, other);
    await one.store.put(["n"], "k", { n: 1 });
    expect(await other.store.get(["n"], "k")).toBeNull();
    expect([one.name, one.location]).toEqual(["memory", "this process (nothing is kept)"]);
  });
});
