import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { BlobStore } from "#src/sessions/repository.ts";
import { createBlobStore } from "#src/storage/store-session-repository.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { readResult, resultText, type ResultKeeper } from "./kept-results.ts";

const keeperOn = (blobs: BlobStore, owner = "ada"): ResultKeeper => ({
  blobs,
  owner,
  limits: { toolResultCharacters: 1_000, attachmentBytes: 100 },
});
const makeKeeper = () =>
  keeperOn(createBlobStore(createMemoryBackend({ clock: createManualClock(0) }).store));
const nameIn = (text: string) => /kept as result ([0-9a-f]{64})/u.exec(text)?.[1] ?? "none";
const failing = (error: Error): BlobStore => ({
  keep: async () => {
    throw error;
  },
  read: async () => undefined,
});

const LONG = Array.from({ length: 300 }, (_, line) => `line ${line}`).join("\n");

describe("a tool result in a conversation", () => {
  it("is whole up to the limit", async () => {
    const text = "x".repeat(1_000);
    expect(await resultText(text, makeKeeper())).toBe(text);
  });

  it("keeps its beginning and its end when it is longer, and says where the rest is", async () => {
    const shown = await resultText(LONG, makeKeeper());
    expect(shown.startsWith("line 0\nline 1\n")).toBe(true);
    expect(shown.endsWith("line 298\nline 299")).toBe(true);
    expect(shown).toContain(`[${LONG.length - 700} of ${LONG.length} characters left out; kept as result `);
    expect(shown).toContain("; go on from 500]");
    expect(shown.length).toBeLessThan(1_000);
  });

  it("splits no emoji where it is cut", async () => {
    const shown = await resultText("😀".repeat(2_000), makeKeeper());
    expect(shown.isWellFormed()).toBe(true);
  });

  it("names a picture by type and size instead of holding it", async () => {
    const data = Buffer.alloc(90).toString("base64");
    const shown = await resultText([{ type: "image", mimeType: "image/png", data }], makeKeeper());
    expect(shown).toMatch(/^\[picture: image\/png, 90 bytes\] kept as result [0-9a-f]{64}$/u);
  });

  it("is told all the same when the rest cannot be stored", async () => {
    const shown = await resultText(
      LONG,
      keeperOn(failing(new LilyError("storage_full", "the disk is full"))),
    );
    expect(shown).toContain("left out; not kept: the disk is full;");
  });

  it("ends with the run when the lease is lost", async () => {
    const keeper = keeperOn(failing(new LilyError("lease_lost", "gone")));
    await expect(resultText(LONG, keeper)).rejects.toMatchObject({ code: "lease_lost" });
  });
});

describe("reading a kept result", () => {
  it("gives all of it, page by page", async () => {
    const keeper = makeKeeper();
    const name = nameIn(await resultText(LONG, keeper));
    let read = "";
    let from: number | undefined = 0;
    while (from !== undefined) {
      const page: string = await readResult(keeper, { name, from, length: 400 });
      const [head = "", ...lines] = page.split("\n");
      expect(page.length).toBeLessThan(keeper.limits.toolResultCharacters);
      read += lines.join("\n");
      const next = /go on from (\d+)/u.exec(head)?.[1];
      from = next === undefined ? undefined : Number(next);
    }
    expect(read).toBe(LONG);
  });

  it("gives never more than a conversation takes, whatever is asked for", async () => {
    const keeper = makeKeeper();
    const name = nameIn(await resultText(LONG, keeper));
    const page = await readResult(keeper, { name, from: 0, length: 1_000_000 });
    expect(page).toContain("[characters 0 to 800 of");
    expect(page.length).toBeLessThanOrEqual(1_000);
  });

  it("goes on from the middle of an emoji as from its beginning, and always goes on", async () => {
    const keeper = makeKeeper();
    const name = nameIn(await resultText("😀".repeat(2_000), keeper));
    expect(await readResult(keeper, { name, from: 1, length: 1 })).toBe(
      "[characters 0 to 2 of 4000; go on from 2]\n😀",
    );
  });

  it("says where it ends", async () => {
    const keeper = makeKeeper();
    const name = nameIn(await resultText(LONG, keeper));
    const { length } = LONG;
    expect(await readResult(keeper, { name, from: length + 5, length: 10 })).toBe(
      `[characters ${length} to ${length} of ${length}]\n`,
    );
  });

  it("says of a picture that it is no text", async () => {
    const keeper = makeKeeper();
    const data = Buffer.alloc(90).toString("base64");
    const name = nameIn(await resultText([{ type: "image", mimeType: "image/png", data }], keeper));
    expect(await readResult(keeper, { name, from: 0, length: 10 })).toBe(
      "The result is 90 bytes of image/png, not text.",
    );
  });

  it.each(["", "x", "../chain", "a".repeat(64)])("says that there is no result %j", async (name) => {
    expect(await readResult(makeKeeper(), { name, from: 0, length: 10 })).toContain("There is no result");
  });

  it("gives nothing of another owner's", async () => {
    const blobs = createBlobStore(createMemoryBackend({ clock: createManualClock(0) }).store);
    const name = nameIn(await resultText(LONG, keeperOn(blobs, "ada")));
    expect(await readResult(keeperOn(blobs, "bob"), { name, from: 0, length: 10 })).toContain(
      "There is no result",
    );
  });
});
