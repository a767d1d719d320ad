/** A turn is told once it is on the disk, and its key is given up behind that. */
import { describe, expect, it, vi } from "vitest";
import { LilyError } from "#src/kernel/errors.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { echoModel } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** A disk that takes what is written when a test says so. */
function heldDisk() {
  const waiting: { take: () => void; refuse: (error: Error) => void }[] = [];
  let isHeld = false;
  return {
    hold: () => void (isHeld = true),
    waiting,
    wrap: (storage: StorageBackend): StorageBackend => ({
      ...storage,
      async synced() {
        await storage.synced?.();
        if (!isHeld) return;
        await new Promise<void>((take, refuse) => waiting.push({ take, refuse }));
      },
    }),
  };
}

/** Until somebody waits for the disk. */
const asked = ({ waiting }: ReturnType<typeof heldDisk>): Promise<void> =>
  vi.waitFor(() => expect(waiting).toHaveLength(1), { timeout: 10_000 });

describe("a turn whose disk takes its time", () => {
  it("is told when it is there, and the next one of its key begins behind that", async () => {
    const disk = heldDisk();
    const lily = await start({ model: echoModel(), wrapStorage: disk.wrap });
    await lily.send("one");
    disk.hold();
    const told: string[] = [];
    const second = lily.send("two").then(({ turn }) => told.push(`turn ${turn}`));
    const third = lily.send("three").then(({ turn }) => told.push(`turn ${turn}`));
    await asked(disk);
    expect(told).toEqual([]);
    disk.waiting.shift()?.take();
    await second;
    await asked(disk);
    expect(told).toEqual(["turn 2"]);
    disk.waiting.shift()?.take();
    await third;
  });

  it("is waited for where messages are gathered too", async () => {
    const disk = heldDisk();
    const config = { arrivals: { mode: "collect" } };
    const lily = await start({ model: echoModel(), wrapStorage: disk.wrap, config });
    await lily.send("one");
    disk.hold();
    const reply = lily.send("two");
    await asked(disk);
    disk.waiting.shift()?.refuse(new LilyError("storage_failed", "the disk did not take it"));
    expect(await reply).toMatchObject({ outcome: "failed", turn: null });
  });

  it("waits for it once, also where it ends a session and begins the next", async () => {
    const disk = heldDisk();
    const lily = await start({ model: echoModel(), wrapStorage: disk.wrap });
    await lily.send("one");
    disk.hold();
    const reply = lily.send("/new two");
    await asked(disk);
    disk.waiting.shift()?.take();
    expect(await reply).toMatchObject({ outcome: "answered", turn: 1 });
    expect(disk.waiting).toHaveLength(0);
  });

  it("is told as failed when the disk does not take it; what is there is answered when it comes again", async () => {
    const disk = heldDisk();
    const lily = await start({ model: echoModel(), wrapStorage: disk.wrap });
    await lily.send("one");
    disk.hold();
    const reply = lily.send("two", { deliveryId: "d2" });
    await asked(disk);
    disk.waiting.shift()?.refuse(new LilyError("storage_failed", "the disk did not take it"));
    expect(await reply).toMatchObject({
      outcome: "failed",
      turn: null,
      envelope: { code: "storage_failed" },
    });
    await lily.restart();
    const again = lily.send("two", { deliveryId: "d2" });
    await asked(disk);
    disk.waiting.shift()?.take();
    expect(await again).toMatchObject({ outcome: "answered", turn: 2, repeated: true });
  });
});
