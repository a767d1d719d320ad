import { describe, expect, it } from "vitest";
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { expectGone, FACT } from "./testing/forgotten-fact.ts";
import { echoModel } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

describe("an erasure that is cut off", () => {
  /** Fails every write that comes after `count` others, as long as it is armed. */
  function failAt(count: number) {
    let left = Number.POSITIVE_INFINITY;
    return {
      arm: () => void (left = count),
      /** Whether a write has failed. */
      disarm() {
        const hasFailed = left < 0;
        left = Number.POSITIVE_INFINITY;
        return hasFailed;
      },
      write<T>(work: () => Promise<T>): Promise<T> {
        left -= 1;
        if (left < 0) return Promise.reject(new LilyError("storage_full", "the disk is full"));
        return work();
      },
    };
  }

  it("is finished by asking again, wherever it was cut off", async () => {
    let points = 0;
    for (let count = 0; ; count += 1) {
      const fault = failAt(count);
      const lily = await start({
        model: echoModel(),
        wrapStorage(storage) {
          const guarded = storage.fencedStore.bind(storage);
          return {
            ...storage,
            fencedStore(lease) {
              const store = guarded(lease);
              const batch = store.batch.bind(store);
              store.batch = (operations) =>
                operations.some((operation) => "value" in operation)
                  ? fault.write(() => batch(operations))
                  : batch(operations);
              return store;
            },
          };
        },
      });
      await lily.send(`/remember ${FACT}`);
      await lily.send(`I said: ${FACT}`, { sessionKey: "other" });
      await lily.send(FACT);
      fault.arm();
      const { envelope } = await lily.send("/memory show zebrafish");
      const { records } = z.object({ records: z.array(z.object({ id: z.string() })) }).parse(envelope.data);
      const id = records[0]?.id ?? "";
      const first = await lily.send(`/forget ${id} --everywhere --yes`);
      if (!fault.disarm()) break;
      points += 1;
      expect(first.envelope.ok).toBe(false);
      await lily.send(`/forget ${id} --everywhere --yes`);
      await lily.send(`/forget ${FACT} --everywhere --yes`);
      await expectGone(lily);
    }
    expect(points).toBeGreaterThanOrEqual(7);
  });
});
