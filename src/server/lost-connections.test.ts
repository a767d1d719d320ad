import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "#memory/stores/postgres/testing/start-postgres.ts";
import { echoModel } from "#graphs/session/testing/harness.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { openPostgresBackend } from "#src/storage/postgres/postgres-backend.ts";
import { startProxy } from "#src/storage/postgres/testing/cutting-proxy.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { httpHarnessStarter } from "./testing/http-harness.ts";

const start = httpHarnessStarter();
const missing = whyNoPostgres();

// An error event that nobody listens to ends the process, and with it this test.
describe.skipIf(missing !== undefined)(
  `a server whose connection to PostgreSQL is lost${missing ? ` (${missing})` : ""}`,
  () => {
    let postgres: PostgresServer;
    beforeAll(async () => {
      postgres = await startPostgres();
    });
    afterAll(() => postgres.stop());

    it.each(["BEGIN", "checkpoint_blobs", "COMMIT"])(
      "within a turn, at %s, answers 503, lives, and takes the message when it comes again (R-1)",
      async (word) => {
        const proxy = await startProxy(await postgres.createDatabase());
        const storage = await openPostgresBackend({
          connection: proxy.address,
          clock: createManualClock(Date.parse("2026-03-01T09:00:00.000Z")),
          ids: createSequentialIds(7),
        });
        const http = await start({
          lily: {
            model: echoModel(),
            wrapStorage: (unused) => ({
              ...storage,
              close: () => storage.close().then(() => unused.close()),
            }),
          },
        });
        const send = (content: string, deliveryId: string) =>
          http.post("/keys/k/messages", { content, deliveryId });
        expect((await send("one", "d1")).status).toBe(200);

        proxy.word = word;
        const failed = await send("two", "d2");
        expect(proxy.cuts).toBeGreaterThan(0);
        expect([failed.status, ((await failed.json()) as { code: string }).code]).toEqual([
          503,
          "storage_unreachable",
        ]);
        expect((await http.request("/health")).status).toBe(200);
        proxy.word = undefined;

        const again = turnReplySchema.parse(await (await send("two", "d2")).json());
        expect(again).toMatchObject({ turn: 2, envelope: { message: "two" } });
        await proxy.close();
        expect(await http.problem("/ready")).toMatchObject({ status: 503 });
      },
    );
  },
);
