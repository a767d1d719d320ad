import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds, encodeLabel } from "#src/kernel/ids.ts";
import { createFactStore } from "#memory/facts/fact-store.ts";
import { ownMemory } from "#memory/namespaces.ts";
import { createMemoryBackend, openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createBlobStore, createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { openChain } from "#src/sessions/chain.ts";
import { lockName } from "#src/sessions/session-key.ts";
import { erase } from "./erase.ts";
import type { ErasureDeps } from "./place.ts";
import { preview } from "./preview.ts";
import { hunt } from "./testing/hunt.ts";

const AT = "2026-03-01T09:00:00.000Z";
const clock = createManualClock(Date.parse(AT));
const ids = createSequentialIds(3);

/** Names that a careless match takes for one another. */
const OWNERS = [
  "ada",
  "ad",
  "ada2",
  "ada%",
  "ada_",
  "a_a",
  "ada.b",
  "ada:b",
  "ADA",
  "adá",
  "ada\u0301",
  "%",
  "_",
  "ada~x",
];

const depsOn = (storage: StorageBackend, more: Partial<ErasureDeps> = {}): ErasureDeps => ({
  storage,
  clock,
  ids,
  keyWaitMs: 20,
  ...more,
});

/** One of everything for an owner. @returns its thread */
async function fill(storage: StorageBackend, owner: string): Promise<string> {
  const { store } = storage;
  const sessionId = randomUUID();
  const ref = { owner, sessionKey: "cli:main", sessionId };
  const lease = await storage.locks.acquire(lockName(ref));
  await lease.release();
  const repository = createStoreSessionRepository(store);
  await repository.indexSession(sessionId, ref);
  await repository.writeChain(openChain({ ...ref, at: AT, deliveryId: "d", textHash: "h" }));
  await repository.writeDelivery(ref, "d", { sessionId, turn: 1 });
  const failure = { sessionId, deliveryId: "d", requestId: "r", at: AT, code: "c", message: "m", node: "n" };
  await repository.writeFailure(ref, { ...failure, text: `${owner} failed` });
  await store.put(["history", encodeLabel(owner), "cli=3Amain", sessionId], "00000001", {
    text: `${owner} spoke`,
  });
  await store.put(["evidence", encodeLabel(owner), "default"], "e", { text: `${owner} read` });
  await createBlobStore(store).keep(owner, { mimeType: "text/plain", bytes: Buffer.from(`${owner} kept`) });
  await store.put(["stop-requests", encodeLabel(owner), "k"], "stop", { token: 1, by: "d" }, false);
  const facts = createFactStore(store, { clock, ids, scan: async () => [] });
  const says = (text: string) => ({ text, saidBy: "owner", source: "command" }) as const;
  await facts.remember({ owner }, says(`${owner} likes tea`));
  await facts.remember({ owner }, { ...says(`${owner} likes the moon`), task: "x" });
  const gone = await facts.remember({ owner }, says(`${owner} likes jazz`));
  if (gone.kind === "stored") await facts.forget({ owner }, gone.record.id);
  const checkpoint = { ...emptyCheckpoint(), channel_values: { said: `${owner} said` } };
  const config = { configurable: { thread_id: sessionId, checkpoint_ns: "" } };
  await storage.checkpointer.put(config, checkpoint, { source: "update", step: 0, parents: {} }, {});
  return sessionId;
}

async function everything(storage: StorageBackend): Promise<string[]> {
  const items = await storage.store.search([], { limit: 10_000 });
  return items.map(({ namespace, key, value }) => JSON.stringify([namespace, key, value])).sort();
}

const backends: readonly [string, () => StorageBackend][] = [
  ["memory", () => createMemoryBackend({ clock })],
  [
    "sqlite",
    () => {
      const folder = mkdtempSync(join(tmpdir(), "lily-owner-"));
      const storage = openSqliteBackend({
        checkpointPath: join(folder, "c.sqlite"),
        storePath: join(folder, "s.sqlite"),
        clock,
      });
      return { ...storage, location: folder, close: () => storage.close() };
    },
  ],
];

describe.each(backends)("erasing a person on %s", (_name, open) => {
  it("takes everything of the person, and nothing of people whose names look alike", async () => {
    const storage = open();
    const others = OWNERS.filter((owner) => owner !== "ada");
    const threads = new Map<string, string>();
    for (const owner of others) threads.set(owner, await fill(storage, owner));
    const before = await everything(storage);
    const thread = await fill(storage, "ada");
    expect(await everything(storage)).not.toEqual(before);
    const receipt = await erase(depsOn(storage), { owner: "ada" });
    expect(receipt).toMatchObject({ what: "person", finished: true });
    const erased = receipt.lines.filter(({ outcome }) => outcome === "erased").map(({ place }) => place);
    expect(erased).toEqual(
      expect.arrayContaining([
        "memory",
        "tombstone",
        "transcripts",
        "failed turns",
        "evidence",
        "checkpoints",
      ]),
    );
    expect(await everything(storage)).toEqual(before);
    const stateOf = (id = "") => storage.checkpointer.getTuple({ configurable: { thread_id: id } });
    expect(await stateOf(thread)).toBeUndefined();
    for (const owner of others) expect(await stateOf(threads.get(owner))).toBeDefined();
    await storage.close();
  });

  it("is told the same the second time as of somebody who was never there", async () => {
    const storage = open();
    await fill(storage, "ada");
    await erase(depsOn(storage), { owner: "ada" });
    const again = await erase(depsOn(storage), { owner: "ada" });
    expect(again).toEqual(await erase(depsOn(storage), { owner: "nobody" }));
    expect(await preview(depsOn(storage), { owner: "ada" })).toEqual([]);
    await storage.close();
  });

  it("is refused while a turn of the person runs, and changes nothing then", async () => {
    const storage = open();
    await fill(storage, "ada");
    const before = await everything(storage);
    const lease = await storage.locks.acquire(lockName({ owner: "ada", sessionKey: "cli:main" }));
    await expect(erase(depsOn(storage), { owner: "ada" })).rejects.toMatchObject({ code: "turn_running" });
    expect(await everything(storage)).toEqual(before);
    await lease.release();
    await storage.close();
  });

  it("of one conversation takes what it remembers for itself alone, and no more (M-1)", async () => {
    const storage = open();
    const facts = createFactStore(storage.store, {
      clock,
      ids: createSequentialIds(3),
      scan: async () => [],
    });
    const group = { owner: ownMemory("ada", "telegram:group:1") };
    const others = [
      { owner: "ada" },
      { owner: ownMemory("ada", "telegram:group:2") },
      { owner: ownMemory("bert", "telegram:group:1") },
    ];
    for (const who of [group, ...others])
      await facts.remember(who, { text: "we meet on Fridays", saidBy: "owner", source: "command" });
    const target = { owner: "ada", sessionKey: "telegram:group:1" };
    expect(await preview(depsOn(storage), target)).toContainEqual({ place: "memory of its own", count: 1 });
    const receipt = await erase(depsOn(storage), target);
    expect(receipt.lines).toContainEqual(
      expect.objectContaining({ place: "memory of its own", outcome: "erased" }),
    );
    expect((await facts.show(group)).records).toEqual([]);
    for (const who of others) expect((await facts.show(who)).records).toHaveLength(1);
    await storage.close();
  });

  it("shows what would go", async () => {
    const storage = open();
    await fill(storage, "ada");
    const before = await everything(storage);
    const counts = Object.fromEntries(
      (await preview(depsOn(storage), { owner: "ada" })).map(({ place, count }) => [place, count]),
    );
    expect(counts).toMatchObject({
      transcripts: 1,
      tombstone: 1,
      checkpoints: 1,
      blobs: 1,
      "session index": 1,
    });
    expect(await everything(storage)).toEqual(before);
    await storage.close();
  });
});

describe("erasing a person on disk", () => {
  it("leaves no file that says a word of it, lock names among them, and never grants an old token again", async () => {
    const storage = backends[1]?.[1]();
    if (storage === undefined) throw new Error("no backend");
    const owner = "zebrafish-keeper";
    await fill(storage, owner);
    const name = lockName({ owner, sessionKey: "cli:main" });
    const wanted = { text: owner, words: [owner] };
    expect(hunt(storage.location, wanted)).not.toEqual([]);
    await erase(depsOn(storage), { owner });
    expect(hunt(storage.location, wanted)).toEqual([]);
    const lease = await storage.locks.acquire(name);
    expect(lease.token).toBeGreaterThan(2);
    await lease.release();
    await storage.close();
  });

  it("takes what was typed by the person at this machine, and tells of keys that stay", async () => {
    const storage = createMemoryBackend({ clock });
    let lines = 2;
    const eraseLines = (): number => {
      const before = lines;
      lines = 0;
      return before;
    };
    const typed = { owner: "ada", count: () => lines, erase: eraseLines };
    const receipt = await erase(depsOn(storage, { typed, apiKeys: () => 1 }), { owner: "ada" });
    expect(receipt.lines).toContainEqual({ place: "input history", outcome: "erased", count: 2 });
    expect(receipt.lines.find(({ place }) => place === "API keys")).toMatchObject({ outcome: "kept" });
    const other = await erase(depsOn(storage, { typed }), { owner: "bob" });
    expect(other.lines.find(({ place }) => place === "input history")).toMatchObject({ outcome: "kept" });
  });
});
