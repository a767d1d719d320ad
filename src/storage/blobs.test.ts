import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { createBlobStore } from "./store-session-repository.ts";
import { createMemoryBackend } from "./sqlite/sqlite-backend.ts";
import { blobNamespace } from "./session-items.ts";

const picture = { mimeType: "image/png", bytes: Uint8Array.from({ length: 300 }, (_, at) => at % 256) };

const makeStore = () => createMemoryBackend({ clock: createManualClock(0) }).store;

describe("blobs", () => {
  it("come back byte for byte under their hash", async () => {
    const blobs = createBlobStore(makeStore());
    const sha256 = await blobs.keep("ada", picture);
    expect(sha256).toBe(sha256Of(picture.bytes));
    expect(await blobs.read("ada", sha256)).toEqual(picture);
  });

  it("are stored once, however often they come", async () => {
    const store = makeStore();
    const blobs = createBlobStore(store);
    await blobs.keep("ada", picture);
    await blobs.keep("ada", { ...picture, mimeType: "image/x-other" });
    const items = await store.search(blobNamespace("ada"));
    expect(items).toHaveLength(1);
    expect(items[0]?.value["mimeType"]).toBe("image/png");
  });

  it("are of their owner alone, also when the owner's name looks like a path", async () => {
    const blobs = createBlobStore(makeStore());
    const sha256 = await blobs.keep("ada/blobs.:%", picture);
    expect(await blobs.read("ada", sha256)).toBeUndefined();
    expect(await blobs.read("ada/blobs.:%", sha256)).toEqual(picture);
  });

  it("are refused when what is stored is not what the hash says", async () => {
    const store = makeStore();
    const blobs = createBlobStore(store);
    const sha256 = await blobs.keep("ada", picture);
    await store.put(blobNamespace("ada"), sha256, { v: 1, mimeType: "image/png", base64: "AAAA" });
    await expect(blobs.read("ada", sha256)).rejects.toMatchObject({ code: "record_invalid" });
    await store.put(blobNamespace("ada"), sha256, { other: true });
    await expect(blobs.read("ada", sha256)).rejects.toMatchObject({ code: "record_invalid" });
  });
});
