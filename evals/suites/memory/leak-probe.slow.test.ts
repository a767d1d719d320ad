import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { indexFieldsOf } from "#memory/namespaces.ts";
import { PostgresDatabase } from "#memory/stores/postgres/postgres-database.ts";
import { PostgresStore } from "#memory/stores/postgres/postgres-store.ts";
import { setUpStore } from "#memory/stores/postgres/store-tables.ts";
import {
  openTestPool,
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "#memory/stores/postgres/testing/start-postgres.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { probeLeaks } from "./testing/leak-probe.ts";

const MINUTES = 60_000;

describe.each<[string, () => BaseStore]>([
  ["InMemoryStore", () => new InMemoryStore()],
  [
    "SqliteStore",
    () =>
      new SqliteStore(openDatabase(":memory:"), {
        clock: createManualClock(0),
        index: { fields: indexFieldsOf },
      }),
  ],
])("ten thousand facts of many people on %s", (_name, makeStore) => {
  it("come out at no door in another's name", { timeout: 20 * MINUTES }, async () => {
    expect((await probeLeaks(makeStore(), { records: 10_000 })).leaks).toEqual([]);
  });
});

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(
  `facts of many people in PostgreSQL${missing ? ` (${missing})` : ""}`,
  () => {
    let server: PostgresServer;
    let pool: Pool;

    beforeAll(async () => {
      server = await startPostgres();
      pool = openTestPool(await server.createDatabase());
      await setUpStore(new PostgresDatabase(pool, "test"));
    });
    afterAll(async () => {
      await pool.end();
      await server.stop();
    });

    it("come out at no door in another's name", { timeout: 20 * MINUTES }, async () => {
      const store = new PostgresStore(new PostgresDatabase(pool, "test"), {
        clock: createManualClock(0),
        index: { fields: indexFieldsOf },
      });
      expect((await probeLeaks(store, { records: 2_000, strangers: 3 })).leaks).toEqual([]);
    });
  },
);
