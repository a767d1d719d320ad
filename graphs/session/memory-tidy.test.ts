import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { echoModel, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const DAY = 86_400_000;
const start = harnessStarter();

interface StoredRecord {
  readonly text: string;
  readonly expired: boolean;
  readonly archived: boolean;
  readonly verification_due: boolean;
  readonly updated_at: string;
  readonly last_verified: string | null;
}

/** Records of memory as they lie in the store, in the order of their texts. */
async function stored(lily: Harness): Promise<readonly StoredRecord[]> {
  await lily.sessions.settled();
  const items = [
    ...(await lily.storage.store.search(["memory", "personality"], { limit: 100 })),
    ...(await lily.storage.store.search(["memory", "task"], { limit: 100 })),
  ];
  return items
    .map(({ value }) => value as unknown as StoredRecord)
    .sort((a, b) => (a.text < b.text ? -1 : 1));
}

/** One fact that will be due, one that will expire, one of a task that will expire. */
async function three(lily: Harness): Promise<void> {
  await lily.send("/remember I was born in Lisbon");
  await lily.send("/remember My desk is in Oslo --expires 2d");
  await lily.send("/remember --task apollo --expires 2d The launch is on Friday");
}

describe("the lifecycle job beside turns", () => {
  it("marks with a turn what is due, has expired or is to be archived; deletes nothing, freshens nothing", async () => {
    const lily = await start({ model: echoModel() });
    await three(lily);
    const before = await stored(lily);
    expect(
      before.map(({ expired, archived, verification_due }) => [expired, archived, verification_due]),
    ).toEqual(Array.from({ length: 3 }, () => [false, false, false]));
    lily.clock.advance(181 * DAY);
    await lily.send("good morning");
    const after = await stored(lily);
    expect(after).toEqual([
      { ...before[0], verification_due: true },
      { ...before[1], expired: true },
      { ...before[2], expired: true, archived: true },
    ]);
  });

  it("runs once a day, and not for what only reads", async () => {
    const lily = await start({ model: echoModel() });
    await three(lily);
    lily.clock.advance(2 * DAY);
    await lily.send("/memory show");
    await lily.send("/why");
    expect((await stored(lily)).some(({ expired }) => expired)).toBe(false);
    await lily.send("hello");
    expect((await stored(lily)).filter(({ expired }) => expired)).toHaveLength(2);
    await lily.send("/remember My bag is in Porto --expires 2h");
    lily.clock.advance(DAY - 1);
    await lily.send("hello");
    expect((await stored(lily)).filter(({ expired }) => expired)).toHaveLength(2);
    lily.clock.advance(1);
    await lily.send("hello");
    expect((await stored(lily)).filter(({ expired }) => expired)).toHaveLength(3);
  });

  it("fails no turn", async () => {
    let failed = 0;
    const lily = await start({
      model: new ScriptedChatModel(() => "fine"),
      wrapStorage: (storage) => {
        const search = storage.store.search.bind(storage.store);
        storage.store.search = async (prefix: string[], options) => {
          if (prefix[1] === "tasks") {
            failed += 1;
            throw new Error("the store is busy");
          }
          return search(prefix, options);
        };
        return storage;
      },
    });
    expect(await lily.send("hello")).toMatchObject({ outcome: "answered", turn: 1 });
    await lily.sessions.settled();
    expect(failed).toBe(1);
    expect(await lily.send("hello again")).toMatchObject({ outcome: "answered", turn: 2 });
  });

  it("leaves the facts of somebody who says nothing alone, and all of them where memory is off", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember My desk is in Oslo --expires 2d", { owner: "bert", sessionKey: "test:bert" });
    lily.clock.advance(3 * DAY);
    await lily.send("hello");
    expect(await stored(lily)).toMatchObject([{ expired: false }]);
    await lily.restart({ memory: { enabled: false } });
    await lily.send("hello", { owner: "bert", sessionKey: "test:bert" });
    expect(await stored(lily)).toMatchObject([{ expired: false }]);
  });
});

describe("what waits for a word of its owner", () => {
  it("is told by /memory show, whether it was marked yet or not, until it is confirmed", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I was born in Lisbon");
    lily.clock.advance(180 * DAY - 1);
    expect((await lily.send("/memory show")).envelope.message).toBe("1 fact.");
    lily.clock.advance(1);
    const { envelope } = await lily.send("/memory show");
    expect(envelope.message).toBe(
      "1 fact. 1 of these was last confirmed over 180 days ago: /memory verify <id> confirms one.",
    );
    const rows = envelope.data?.["records"] as readonly { readonly short: string }[];
    const [row] = rows;
    expect(row).toMatchObject({ state: "verify", verified: null });
    expect((await lily.send("/memory show")).envelope).toEqual(envelope);
    await lily.send(`/memory verify ${row?.short}`);
    expect((await lily.send("/memory show")).envelope.message).toBe("1 fact.");
  });
});
