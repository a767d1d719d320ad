import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { openChain } from "./chain.ts";
import { readOnce } from "./read-once.ts";
import { turnRecord } from "./testing/turn-body.ts";

const AT = "2026-03-01T09:00:00.000Z";
const REF = { owner: "o", sessionKey: "k", sessionId: "s" };
const chainOf = (sessionKey: string, deliveryId = "d") =>
  openChain({ owner: "o", sessionKey, sessionId: "s", at: AT, deliveryId, textHash: "h" });

async function open() {
  const { store } = createMemoryBackend({ clock: createManualClock(0) });
  const repository = createStoreSessionRepository(store);
  for (const key of ["k", "other"]) await repository.writeChain(chainOf(key));
  const get = vi.spyOn(store, "get");
  return { repository, get, held: readOnce(repository, ({ sessionKey }) => sessionKey === "k") };
}

describe("what nobody else writes", () => {
  it("is read once, also when it is not there", async () => {
    const { held, get } = await open();
    expect(await held.readChain(REF)).toEqual(await held.readChain(REF));
    expect([await held.readStoredTurn(REF, 1), await held.readStoredTurn(REF, 1)]).toEqual([
      undefined,
      undefined,
    ]);
    await held.readStoredTurn(REF, 2);
    expect(get).toHaveBeenCalledTimes(3);
  });

  it("is read again once it was written", async () => {
    const { held } = await open();
    await held.readChain(REF);
    await held.writeChain(chainOf("k", "d2"));
    expect((await held.readChain(REF))?.sessions[0]?.opened).toMatchObject({ deliveryId: "d2" });
    await held.readStoredTurn(REF, 1);
    await held.writeTurn(REF, turnRecord({ sessionId: "s", turn: 1 }));
    expect(await held.readStoredTurn(REF, 1)).toMatchObject({ turn: 1 });
  });

  it("is read again behind a write that was made and reported as failed", async () => {
    const { repository } = await open();
    const losing = {
      ...repository,
      async writeTurn(...parts: Parameters<typeof repository.writeTurn>) {
        await repository.writeTurn(...parts);
        throw new Error("lost");
      },
    };
    const held = readOnce(losing, () => true);
    expect(await held.readStoredTurn(REF, 1)).toBeUndefined();
    await expect(held.writeTurn(REF, turnRecord({ sessionId: "s", turn: 1 }))).rejects.toThrow("lost");
    expect(await held.readStoredTurn(REF, 1)).toMatchObject({ turn: 1 });
  });

  it("is asked for again when reading it has failed", async () => {
    const { repository } = await open();
    const readChain = vi
      .fn<typeof repository.readChain>(repository.readChain)
      .mockRejectedValueOnce(new Error("busy"));
    const held = readOnce({ ...repository, readChain }, () => true);
    await expect(held.readChain(REF)).rejects.toThrow("busy");
    expect(await held.readChain(REF)).toBeDefined();
  });
});

it("reads what others may write each time", async () => {
  const { held, repository } = await open();
  const other = { owner: "o", sessionKey: "other" };
  await held.readChain(other);
  await repository.writeChain(chainOf("other", "d2"));
  expect((await held.readChain(other))?.sessions[0]?.opened).toMatchObject({ deliveryId: "d2" });
});
