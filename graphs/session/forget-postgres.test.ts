/** `/forget --everywhere` on PostgreSQL: what its tables, and what it knows of them, have of the text afterwards. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  openTestPool,
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "#memory/stores/postgres/testing/start-postgres.ts";
import { receiptSchema } from "#src/erasure/receipt.ts";
import { hunt, type Catch } from "#src/erasure/testing/hunt.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { openPostgresBackend } from "#src/storage/postgres/postgres-backend.ts";
import { FACT, PREY } from "./testing/forgotten-fact.ts";
import { echoModel } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const missing = whyNoPostgres();

const SCHEMA = "forgetting";

describe.skipIf(missing !== undefined)(
  `/forget --everywhere on PostgreSQL${missing ? ` (${missing})` : ""}`,
  () => {
    let server: PostgresServer;
    let address: string;
    let pool: Pool;
    beforeAll(async () => {
      server = await startPostgres();
      address = await server.createDatabase();
      pool = openTestPool(address);
    });
    afterAll(async () => {
      await pool.end();
      await server.stop();
    });

    /** Every row of every table of ours, of what the planner has sampled of them, and of pages as they lie on disk. */
    async function caught(): Promise<Catch[]> {
      const folder = mkdtempSync(join(tmpdir(), "lily-rows-"));
      const tables = await pool.query<{ name: string; path: string }>(
        `SELECT oid::regclass::text AS name, pg_relation_filepath(oid) AS path FROM pg_class
       WHERE relkind = 'r' AND relnamespace = $1::regnamespace`,
        [SCHEMA],
      );
      await pool.query("CHECKPOINT");
      for (const [index, { name, path }] of tables.rows.entries()) {
        const rows = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`);
        writeFileSync(join(folder, `${index} ${name}`), rows.rows.map(({ row }) => row).join("\n"));
        const pages = await pool.query<{ bytes: Buffer }>("SELECT pg_read_binary_file($1) AS bytes", [path]);
        writeFileSync(join(folder, `${index} pages`), pages.rows[0]?.bytes ?? "");
      }
      const known = await pool.query<{ row: string }>(
        "SELECT s::text AS row FROM pg_stats AS s WHERE schemaname = $1",
        [SCHEMA],
      );
      writeFileSync(join(folder, "statistics"), known.rows.map(({ row }) => row).join("\n"));
      const found = hunt(folder, PREY);
      rmSync(folder, { recursive: true });
      return found;
    }

    it("leaves nothing in tables and in what the planner has sampled of them", async () => {
      const clock = createManualClock(Date.parse("2026-03-01T09:00:00.000Z"));
      const storage = await openPostgresBackend({
        connection: address,
        schema: SCHEMA,
        clock,
        ids: createSequentialIds(9),
      });
      const lily = await start({
        model: echoModel(),
        wrapStorage: (unused) => ({ ...storage, close: () => storage.close().then(() => unused.close()) }),
      });
      await lily.send(`/remember ${FACT}`);
      await lily.send("hello");
      await lily.send(`You know that ${FACT}`, { sessionKey: "other" });
      await lily.send("/title Zebrafish of Ostend that my neighbour keeps");
      await lily.send("/new");
      await lily.send("fine");
      await pool.query("ANALYZE");
      expect((await caught()).map(({ file }) => file)).toContain("statistics");
      const reply = await lily.send(`/forget ${FACT} --everywhere --yes`);
      const receipt = receiptSchema.parse(reply.envelope.data?.["receipt"]);
      expect(receipt.finished).toBe(true);
      expect(receipt.lines).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ place: "memory", outcome: "erased", count: 1 }),
          expect.objectContaining({ place: "transcripts", outcome: "erased", count: 3 }),
          expect.objectContaining({ place: "titles", outcome: "erased", count: 1 }),
          expect.objectContaining({ place: "database log", outcome: "not_supported" }),
        ]),
      );
      expect(await caught()).toEqual([]);
    });
  },
);
