import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { echoModel, KEY, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const HOUR = 3_600_000;
const start = harnessStarter();

async function shown(lily: Harness, query = "", request = {}): Promise<string[]> {
  const { envelope } = await lily.send(`/memory show ${query}`, request);
  const records = envelope.data?.["records"] as readonly { readonly text: string }[];
  return records.map((record) => record.text);
}

async function idOf(lily: Harness, query: string): Promise<string> {
  const { envelope } = await lily.send(`/memory show ${query} --all`);
  const records = envelope.data?.["records"] as readonly { readonly short: string }[];
  return records[0]?.short ?? "";
}

/** Whether any file of the folder holds the text, as UTF-8 or UTF-16. */
function isInFiles(folder: string, text: string): boolean {
  return readdirSync(folder).some((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return isInFiles(path, text);
    const bytes = readFileSync(path);
    return bytes.includes(text) || bytes.includes(Buffer.from(text, "utf16le"));
  });
}

/** Everything that can be read through the ports: items of the store, and every checkpoint of every session. */
async function everythingStored(lily: Harness): Promise<string> {
  const items = await lily.storage.store.search([], { limit: 10_000 });
  const chain = await lily.sessions.repository.readChain({ owner: "local", sessionKey: KEY });
  const checkpoints: unknown[] = [];
  for (const { sessionId } of chain?.sessions ?? []) {
    for await (const tuple of lily.storage.checkpointer.list({ configurable: { thread_id: sessionId } }))
      checkpoints.push(tuple.checkpoint, tuple.metadata, tuple.pendingWrites);
  }
  return JSON.stringify([items, checkpoints]);
}

describe("/remember", () => {
  it("keeps a fact that another session, after a restart, is shown", async () => {
    const lily = await start({ model: echoModel() });
    const kept = await lily.send("/remember I take my tea without milk");
    expect(kept).toMatchObject({ outcome: "command", turn: 1, envelope: { code: "memory_stored" } });
    await lily.restart();
    await lily.send("/new");
    expect(await shown(lily, "tea")).toEqual(["I take my tea without milk"]);
  });

  it("changes nothing twice when it is delivered twice, and repeats its reply", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("/remember I like jazz", { deliveryId: "d1" });
    await lily.restart();
    const again = await lily.send("/remember I like jazz", { deliveryId: "d1" });
    expect(again).toEqual({ ...first, repeated: true });
    const { envelope } = await lily.send("/memory show");
    expect(envelope.data?.["records"]).toMatchObject([{ text: "I like jazz", verified: null }]);
  });

  it("makes no second record of what is known, and takes the repetition as a confirmation", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    lily.clock.advance(60_000);
    const again = await lily.send("/remember  i like  Jazz.");
    expect(again.envelope).toMatchObject({ code: "memory_known", data: { confirmed: true } });
    expect(await shown(lily)).toHaveLength(1);
  });

  it("is done in the session that time begins, once, and told as done", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("hello");
    lily.clock.advance(13 * HOUR);
    const kept = await lily.send("/remember I like jazz");
    expect(kept.sessionId).not.toBe(first.sessionId);
    expect(kept).toMatchObject({ turn: 1, envelope: { code: "memory_stored" } });
    const provenance = { sessionId: kept.sessionId, turn: 1 };
    expect((await lily.send("/memory show")).envelope.data?.["records"]).toMatchObject([{ provenance }]);
  });

  it("says that it was stored when its first attempt was cut off after the write", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId } = await lily.send("hello");
    await lily.crashBefore("commit", {
      threadId: sessionId,
      deliveryId: "d1",
      text: "/remember I like jazz",
    });
    const again = await lily.send("/remember I like jazz", { deliveryId: "d1" });
    expect(again).toMatchObject({ turn: 2, envelope: { code: "memory_stored" } });
    expect(await shown(lily)).toEqual(["I like jazz"]);
  });

  it("ends with the time that was given to it", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I am in Lisbon --expires 2d");
    expect(await shown(lily)).toHaveLength(1);
    lily.clock.advance(49 * HOUR);
    const { envelope } = await lily.send("/memory show");
    expect(envelope.data).toMatchObject({ records: [], leftOut: { expired: 1 } });
    expect((await lily.send("/memory show --all")).envelope.data).toMatchObject({
      records: [{ state: "expired" }],
    });
  });

  it("keeps what belongs to a task apart", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember --task apollo the launch is in June");
    expect(await shown(lily, "launch")).toEqual([]);
    const { envelope } = await lily.send("/memory long task show --namespace apollo");
    expect(envelope.data).toMatchObject({ records: [{ task: "apollo", domain: "task_memory" }] });
    expect((await lily.send("/memory long task show --namespace apol")).envelope.data).toMatchObject({
      records: [],
    });
  });

  it("keeps the facts of people apart who speak at the same time", async () => {
    const lily = await start({ model: echoModel() });
    const people = ["anna", "bert", "an", "anna:x"];
    await Promise.all(
      people.map((owner) => lily.send(`/remember ${owner} plays the ${owner} drum`, { owner })),
    );
    for (const owner of people)
      expect(await shown(lily, "", { owner })).toEqual([`${owner} plays the ${owner} drum`]);
  });
});

const SECRET = ["hunter2", "Zebra9", "Quartz"].join("");

describe("a secret that the policy denies", () => {
  const isNowhere = async (lily: Harness): Promise<void> => {
    expect(await everythingStored(lily)).not.toContain(SECRET);
    await lily.restart();
    expect(isInFiles(lily.folder, SECRET)).toBe(false);
  };

  it("would be found by these tests: a fact that is kept is", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like quartzite");
    expect(await everythingStored(lily)).toContain("quartzite");
    await lily.restart();
    expect(isInFiles(lily.folder, "quartzite")).toBe(true);
  });

  it.each([
    ["as the first message", `/remember my password is ${SECRET}`, false, 0],
    ["in a conversation", `/remember my password is ${SECRET}`, true, 0],
    ["when time is about to end the session", `/remember my password is ${SECRET}`, true, 13 * HOUR],
    ["behind a flag that is not known", `/remember my password is --${SECRET}`, true, 0],
    ["as the value of a flag", `/remember my password --expires ${SECRET}`, true, 0],
    ["where /memory is no /remember", `/memory my password is ${SECRET}`, true, 0],
  ])("is nowhere in what is stored: %s", async (_when, text, isBegun, waitMs) => {
    const lily = await start({ model: echoModel() });
    if (isBegun) await lily.send("hello");
    lily.clock.advance(waitMs);
    const reply = await lily.send(text);
    expect(reply).toMatchObject({ outcome: "refused", turn: null });
    expect(JSON.stringify(reply)).not.toContain(SECRET);
    await isNowhere(lily);
  });

  it("is nowhere in what is stored when it comes as a correction", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    lily.clock.advance(13 * HOUR);
    const reply = await lily.send(`/memory edit ${await idOf(lily, "jazz")} my password is ${SECRET}`);
    expect(reply).toMatchObject({ outcome: "refused", envelope: { code: "memory_policy_denied" } });
    await isNowhere(lily);
  });

  it("is nowhere in what is stored when the gate itself cannot be asked", async () => {
    const broken = async (): Promise<never> => {
      throw new Error(`cannot scan: my password is ${SECRET}`);
    };
    const lily = await start({
      model: echoModel(),
      adjust: (deps) => Object.assign(deps, { scanSecrets: broken }),
    });
    const reply = await lily.send(`/remember my password is ${SECRET}`);
    expect(reply).toMatchObject({ outcome: "refused", envelope: { code: "memory_unavailable" } });
    await isNowhere(lily);
  });
});

describe("/forget", () => {
  it("erases by id, says that transcripts stay, and does not repeat what it erased", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    const reply = await lily.send(`/forget ${await idOf(lily, "jazz")}`);
    expect(reply).toMatchObject({ turn: 2, envelope: { code: "memory_forgotten" } });
    expect(reply.envelope.message).toContain("transcripts");
    expect(JSON.stringify(reply)).not.toContain("jazz");
    expect(await shown(lily, "--all")).toEqual([]);
  });

  it("repeats its reply when it is delivered twice", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    const first = await lily.send("/forget jazz", { deliveryId: "d1" });
    expect(await lily.send("/forget jazz", { deliveryId: "d1" })).toEqual({ ...first, repeated: true });
  });

  it("erases by words only what has all of them, and asks back when several do", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember My dog eats fish");
    await lily.send("/remember My cat eats fish");
    expect((await lily.send("/forget fish")).envelope).toMatchObject({ code: "memory_ambiguous" });
    expect((await lily.send("/forget hamster fish")).envelope).toMatchObject({ code: "memory_ambiguous" });
    expect(await shown(lily)).toHaveLength(2);
    expect((await lily.send("/forget cat fish")).envelope).toMatchObject({ code: "memory_forgotten" });
    expect(await shown(lily)).toEqual(["My dog eats fish"]);
  });

  it("erases nothing with --dry-run, and nothing of somebody else", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    const id = await idOf(lily, "jazz");
    expect((await lily.send("/forget jazz --dry-run")).envelope.code).toBe("memory_forget_preview");
    for (const wanted of [id, "jazz"])
      expect((await lily.send(`/forget ${wanted}`, { owner: "bert" })).envelope.code).toBe(
        "memory_not_found",
      );
    expect(await shown(lily)).toEqual(["I like jazz"]);
  });
});

describe("/memory", () => {
  it("corrects a fact, and keeps the earlier one out of sight", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    const reply = await lily.send(`/memory edit ${await idOf(lily, "jazz")} I like fado`);
    expect(reply.envelope.code).toBe("memory_stored");
    expect(await shown(lily)).toEqual(["I like fado"]);
    expect((await lily.send("/memory show --all jazz")).envelope.data).toMatchObject({
      records: [{ state: "superseded" }],
    });
  });

  it("confirms a fact", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    const reply = await lily.send(`/memory verify ${await idOf(lily, "jazz")}`);
    expect(reply).toMatchObject({ turn: 2, envelope: { code: "memory_verified" } });
    expect(reply.envelope.data?.["records"]).toMatchObject([{ verified: "2026-03-01 09:00" }]);
  });

  it("reads without a turn, and without a model being shown any of it", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("/remember I like jazz");
    expect(await lily.send("/memory")).toMatchObject({ turn: null, envelope: { code: "memory" } });
    expect(await lily.send("/memory show")).toMatchObject({ turn: null });
    expect(model.calls).toHaveLength(0);
  });

  it("says so when it is switched off, and has kept what was there when it is on again", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember I like jazz");
    await lily.restart({ memory: { enabled: false } });
    for (const command of ["/memory", "/memory show", "/remember I like fado", "/forget jazz"])
      expect((await lily.send(command)).envelope.code).toBe("memory_off");
    await lily.restart({});
    expect(await shown(lily)).toEqual(["I like jazz"]);
  });
});
