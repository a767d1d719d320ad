import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "#memory/stores/postgres/testing/start-postgres.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { ERROR_CODES, errorMessage, isLilyError } from "#src/kernel/errors.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import type { StorageBackend } from "../backend.ts";
import { countingGraph } from "../testing/counting-graph.ts";
import { openPostgresBackend } from "./postgres-backend.ts";
import { startProxy, type Proxy } from "./testing/cutting-proxy.ts";

const missing = whyNoPostgres();

// An error event that nobody listens to ends the process, and with it this test.
describe.skipIf(missing !== undefined)(
  `lost connections to PostgreSQL${missing ? ` (${missing})` : ""}`,
  () => {
    let server: PostgresServer;
    let proxy: Proxy;
    let backend: StorageBackend;
    let databases = 0;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.stop());
    afterEach(async () => {
      await backend.close();
      await proxy.close();
    });

    const clock = createManualClock(0);

    async function open(leaseMs = 30_000): Promise<void> {
      proxy = await startProxy(await server.createDatabase());
      const ids = createSequentialIds((databases += 1));
      backend = await openPostgresBackend({ connection: proxy.address, clock, ids, leaseMs });
    }

    const attempt = (work: () => Promise<unknown>): Promise<unknown> =>
      work().then(
        () => undefined,
        (error: unknown) => error,
      );

    it.each(["BEGIN", "checkpoint_blobs", "COMMIT"])(
      "fail the checkpoint that is being written when it comes to %s, and no other (R-1)",
      async (word) => {
        await open();
        const graph = countingGraph(backend.checkpointer);
        await graph.run("before", 1);
        proxy.word = word;
        const put = () =>
          backend.checkpointer.put(
            { configurable: { thread_id: "t" } },
            {
              v: 4,
              id: "1",
              ts: "",
              channel_values: { a: 1 },
              channel_versions: { a: 1 },
              versions_seen: {},
            },
            { source: "update", step: 1, parents: {} },
            { a: 1 },
          );
        expect(await attempt(put)).toMatchObject({ code: "storage_unreachable" });
        expect(proxy.cuts).toBe(1);
        proxy.word = undefined;
        expect(await graph.stateOf("before")).toEqual({ total: 2 });
        expect(await graph.run("after", 1)).toEqual({ total: 2 });
      },
    );

    it("fail what is written while the server ends them, with errors that say so, and nothing after (R-1)", async () => {
      await open();
      const direct = proxy.address;
      const seen = new Set<string>();
      const over = new AbortController();
      const work = async (name: string): Promise<void> => {
        for (let n = 0; !over.signal.aborted; n += 1) {
          const error = await attempt(async () => {
            const lease = await backend.locks.acquire(name, { waitMs: 20_000 });
            try {
              await countingGraph(backend.checkpointer).run(`${name} ${n}`, 1);
              await backend.fencedStore(lease).put(["n"], name, { n });
            } finally {
              await lease.release();
            }
          });
          if (error !== undefined) seen.add(isLilyError(error) ? error.code : errorMessage(error));
        }
      };
      const end = async (): Promise<void> => {
        const client = new Client(direct);
        await client.connect();
        for (let round = 0; round < 20; round += 1) {
          await client.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lily%'",
          );
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        await client.end();
        over.abort();
      };
      await Promise.all([end(), ...["a", "b", "c", "d"].map(work)]);
      expect([...seen].filter((code) => !["storage_unreachable", "lease_lost"].includes(code))).toEqual([]);
      const settled = async () => (await attempt(() => backend.store.get(["n"], "a"))) === undefined;
      // A connection that was taken from the pool before it knew fails once.
      expect((await settled()) || (await settled())).toBe(true);
      expect(await countingGraph(backend.checkpointer).run("after", 1)).toEqual({ total: 2 });
    });

    it.each(["refuses", "is silent"])(
      "end a lease that is not renewed in time, because the server %s",
      async (how) => {
        await open(300);
        const { lost } = await backend.locks.acquire("k");
        if (how === "refuses") await proxy.close();
        else proxy.isSilent = true;
        clock.advance(300);
        while (!lost.aborted) await new Promise((resolve) => setTimeout(resolve, 20));
        expect(lost.reason).toMatchObject({ code: "lease_lost" });
        proxy.isSilent = false;
        await proxy.close();
      },
    );

    it("are told as a server that is away, which a client hears as 503 (R-1)", async () => {
      await open();
      await proxy.close();
      const error = await attempt(() => backend.store.get(["n"], "k"));
      expect(error).toMatchObject({ code: "storage_unreachable" });
      expect(ERROR_CODES.storage_unreachable.http).toBe(503);
      expect(await attempt(() => backend.locks.acquire("k"))).toMatchObject({ code: "storage_unreachable" });
    });
  },
);
