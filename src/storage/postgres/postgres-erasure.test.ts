import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  openTestPool,
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "#memory/stores/postgres/testing/start-postgres.ts";
import { erase } from "#src/erasure/erase.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { createFactStore } from "#memory/facts/fact-store.ts";
import type { StorageBackend } from "../backend.ts";
import { openPostgresBackend } from "./postgres-backend.ts";

const missing = whyNoPostgres();
const clock = createManualClock(Date.parse("2026-03-01T09:00:00.000Z"));
const ids = createSequentialIds(5);

describe.skipIf(missing !== undefined)(`erasing on PostgreSQL${missing ? ` (${missing})` : ""}`, () => {
  let server: PostgresServer;
  let pool: Pool;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres();
    pool = openTestPool(await server.createDatabase());
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  async function open(): Promise<StorageBackend> {
    return openPostgresBackend({ connection: pool, schema: `erasing ${(schemas += 1)}`, clock, ids });
  }

  it("erases a fact, writes the tables anew, and says that the log is not reached", async () => {
    const storage = await open();
    const facts = createFactStore(storage.store, { clock, ids, scan: async () => [] });
    const fact = { text: "My neighbour keeps zebrafish", saidBy: "owner", source: "command" } as const;
    for (const owner of ["ada", "ad", "ada%"]) await facts.remember({ owner }, fact);
    const receipt = await erase({ storage, clock, ids }, { owner: "ada", text: fact.text });
    expect(receipt.finished).toBe(true);
    expect(receipt.lines).toEqual(
      expect.arrayContaining([
        { place: "memory", outcome: "erased", count: 1 },
        { place: "database files", outcome: "erased", count: 6, note: "written anew" },
        expect.objectContaining({ place: "database log", outcome: "not_supported" }),
      ]),
    );
    for (const [owner, total] of [
      ["ada", 0],
      ["ad", 1],
      ["ada%", 1],
    ] as const)
      expect((await facts.show({ owner })).total).toBe(total);
    await erase({ storage, clock, ids }, { owner: "ad" });
    expect((await facts.show({ owner: "ad" })).total).toBe(0);
    expect((await facts.show({ owner: "ada%" })).total).toBe(1);
    await storage.close();
  });

  it("says that the tables are not finished while somebody uses one", async () => {
    const storage = await open();
    const reader = await pool.connect();
    await reader.query("BEGIN");
    await reader.query(`SELECT * FROM "erasing ${schemas}".lily_items`);
    expect(await storage.erasure?.scrub()).toMatchObject({ outcome: "unfinished" });
    await reader.query("COMMIT");
    reader.release();
    expect(await storage.erasure?.scrub()).toEqual({ outcome: "done", files: 6 });
    await storage.close();
  });

  it("forgets locks with the prefix that nobody holds, and never grants an old token again", async () => {
    const storage = await open();
    const grant = async (name: string): Promise<number> => {
      const lease = await storage.locks.acquire(name);
      await lease.release();
      return lease.token;
    };
    for (let round = 1; round <= 3; round += 1) expect(await grant("turn/ada/a")).toBe(round);
    await grant("turn/ad/a");
    const held = await storage.locks.acquire("turn/ada/b");
    expect(await storage.erasure?.forgetLocks("turn/ada/")).toBe(1);
    expect(await storage.locks.holder("turn/ada/b")).toEqual({ lockName: "turn/ada/b", token: held.token });
    await held.release();
    expect([await grant("turn/ada/a"), await grant("turn/ad/a")]).toEqual([4, 2]);
    await storage.close();
  });
});
