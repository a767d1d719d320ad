import { expect, it } from "vitest";
import { removeOrphan, type OrphanClient } from "./orphan-runs.ts";

const STARTED = Date.parse("2026-03-01T09:00:00.000Z");
const BEFORE = "2026-03-01T08:59:00.000Z";
const AFTER = "2026-03-01T09:00:30.000Z";

interface Scene {
  /** When the run that is listed as running was made. */
  readonly created: string;
  /** When the newest checkpoint was written, at the first look and at the second. */
  readonly wroteAt: readonly (string | undefined)[];
}

async function look({ created, wroteAt }: Scene) {
  const deleted: string[] = [];
  let looks = 0;
  // Only what is read here; the rest of a run and a state plays no part.
  const client = {
    runs: {
      list: async () => [{ run_id: "run-1", created_at: created }],
      delete: async (_thread: string, run: string) => void deleted.push(run),
    },
    threads: {
      getHistory: async () => {
        const at = wroteAt[looks];
        looks += 1;
        return at === undefined ? [] : [{ created_at: at }];
      },
    },
  } as unknown as OrphanClient;
  let sleptMs = 0;
  const wasRemoved = await removeOrphan(client, "thread", {
    serverStartedAtMs: STARTED,
    sleep: async (ms) => void (sleptMs += ms),
  });
  return { wasRemoved, deleted, sleptMs };
}

it("removes a run from before the start that has written nothing since", async () => {
  expect(await look({ created: BEFORE, wroteAt: [BEFORE, BEFORE] })).toMatchObject({
    wasRemoved: true,
    deleted: ["run-1"],
  });
  expect(await look({ created: BEFORE, wroteAt: [undefined, undefined] })).toMatchObject({
    wasRemoved: true,
  });
});

it("leaves a run that began in this process, without waiting", async () => {
  expect(await look({ created: AFTER, wroteAt: [BEFORE] })).toEqual({
    wasRemoved: false,
    deleted: [],
    sleptMs: 0,
  });
});

it("leaves a run that waited at the restart and writes now", async () => {
  expect(await look({ created: BEFORE, wroteAt: [AFTER] })).toMatchObject({ wasRemoved: false, sleptMs: 0 });
});

it("leaves a run that has written by the second look", async () => {
  const { wasRemoved, deleted, sleptMs } = await look({ created: BEFORE, wroteAt: [BEFORE, AFTER] });
  expect({ wasRemoved, deleted }).toEqual({ wasRemoved: false, deleted: [] });
  expect(sleptMs).toBeGreaterThan(0);
});
