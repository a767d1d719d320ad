import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { PostgresDatabase } from "../stores/postgres/postgres-database.ts";
import { PostgresStore } from "../stores/postgres/postgres-store.ts";
import { setUpStore } from "../stores/postgres/store-tables.ts";
import {
  openTestPool,
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "../stores/postgres/testing/start-postgres.ts";
import { openDatabase } from "../stores/sqlite/open-database.ts";
import { SqliteStore } from "../stores/sqlite/sqlite-store.ts";
import { describeIsolation } from "./testing/describe-isolation.ts";
import { NOW_MS } from "./testing/test-facts.ts";

describeIsolation("InMemoryStore", () => new InMemoryStore());

// One database in memory a store: a file would test the disk, which the store's own tests do.
describeIsolation(
  "SqliteStore",
  () => new SqliteStore(openDatabase(":memory:"), { clock: createManualClock(NOW_MS) }),
);

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(`in PostgreSQL${missing ? ` (${missing})` : ""}`, () => {
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

  async function emptyStore(): Promise<PostgresStore> {
    await pool.query("DELETE FROM lily_items; DELETE FROM lily_namespaces");
    return new PostgresStore(new PostgresDatabase(pool, "test"), { clock: createManualClock(NOW_MS) });
  }

  describeIsolation("PostgresStore", emptyStore, 8);
});
