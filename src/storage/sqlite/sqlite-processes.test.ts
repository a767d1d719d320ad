import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { StorageBackend } from "../backend.ts";
import { startWorker, type Worker } from "../testing/start-worker.ts";
import { openSqliteBackend } from "./sqlite-backend.ts";

const WORKER = new URL("testing/lock-worker.ts", import.meta.url);

interface Surroundings {
  readonly dir: string;
  start(mode: "count" | "hold" | "stall" | "wait"): Worker;
  /** Opens the files that the workers use. */
  open(): StorageBackend;
}

/** Runs `test` with a folder of its own, and ends what it started. */
async function withFolder(test: (surroundings: Surroundings) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "lily-processes-"));
  const endings: (() => Promise<void>)[] = [];
  try {
    await test({
      dir,
      start(mode) {
        const worker = startWorker(WORKER, dir, mode);
        endings.push(() => worker.kill());
        return worker;
      },
      open() {
        const backend = openSqliteBackend({
          checkpointPath: join(dir, "checkpointer.sqlite"),
          storePath: join(dir, "store.sqlite"),
          clock: { now: () => Date.now(), monotonic: () => performance.now() },
        });
        endings.push(() => backend.close());
        return backend;
      },
    });
  } finally {
    await Promise.all(endings.map((end) => end()));
    rmSync(dir, { recursive: true, force: true });
  }
}

// Concurrent, because most of the time goes into starting processes.
describe.concurrent("processes that share the SQLite files", { timeout: 120_000 }, () => {
  it("open new files at the same time, and lose no update of a counter that each changes under the lock", async ({
    expect,
  }) => {
    await withFolder(async ({ start, open }) => {
      const workers = [start("count"), start("count")];
      expect(await Promise.all(workers.map((worker) => worker.nextLine()))).toEqual(["done", "done"]);
      expect((await open().store.get(["counters"], "n"))?.value).toEqual({ n: 100 });
    });
  });

  it("get the lock of a holder that was killed within 2 seconds, long before its lease runs out", async ({
    expect,
  }) => {
    await withFolder(async ({ start, open }) => {
      const worker = start("hold");
      expect(await worker.nextLine()).toBe("held");
      const { locks } = open();
      await expect(locks.acquire("counter", { waitMs: 150 })).rejects.toMatchObject({
        code: "lease_timeout",
      });
      await worker.kill();
      const lease = await locks.acquire("counter", { waitMs: 2_000 });
      expect(lease.token).toBe(2);
    });
  });

  it("lose nothing when one that waits for the lock is killed", async ({ expect }) => {
    await withFolder(async ({ start, open }) => {
      const holder = start("hold");
      expect(await holder.nextLine()).toBe("held");
      const waiting = start("wait");
      expect(await waiting.nextLine()).toBe("waiting");
      await waiting.kill();
      await holder.kill();
      const lease = await open().locks.acquire("counter", { waitMs: 2_000 });
      expect(lease.token).toBe(2);
    });
  });

  it("refuse the write of a holder that slept past its lease", async ({ expect }) => {
    await withFolder(async ({ dir, start, open }) => {
      const worker = start("stall");
      expect(await worker.nextLine()).toBe("held");
      const { locks, store, fencedStore } = open();
      const lease = await locks.acquire("counter", { waitMs: 10_000 });
      await fencedStore(lease).put(["counters"], "n", { n: 7 });
      writeFileSync(join(dir, "go"), "");
      expect(await worker.nextLine()).toBe("lease_lost");
      expect(await worker.nextLine()).toBe("lost");
      expect((await store.get(["counters"], "n"))?.value).toEqual({ n: 7 });
    });
  });
});
