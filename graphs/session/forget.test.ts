import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { PLACES } from "#src/erasure/places.ts";
import { hunt } from "#src/erasure/testing/hunt.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import {
  caught,
  expectGone,
  FACT,
  LOOK,
  LOOKING,
  outcomesOf,
  problemsOf,
  receiptOf,
} from "./testing/forgotten-fact.ts";
import { echoModel, inputOf, KEY, OWNER } from "./testing/harness.ts";
import { onFilesOf } from "./testing/on-files-of.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

const SAID = /zebrafish|ostend/iu;
const ERASE = "/forget zebrafish --everywhere --yes";

describe("/forget --everywhere", () => {
  it("erases a fact from memory, transcripts and checkpoints; turns that do not say it stay", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send(`/remember ${FACT}`);
    await lily.send("hello");
    await lily.send("you know that zebrafish live in Ostend, my neighbour keeps them");
    expect(caught(lily)).not.toEqual([]);
    const reply = await lily.send(ERASE);
    expect(reply).toMatchObject({ outcome: "command", turn: 4, envelope: { code: "erased", ok: true } });
    expect(outcomesOf(reply)).toMatchObject({
      memory: "erased 1",
      transcripts: "erased 2",
      checkpoints: "erased 1",
      "database files": "erased 2",
    });
    await expectGone(lily, model);
    expect(inputOf(model).join("\n")).toContain("hello");
    expect((await lily.turns((await lily.chain()).latest)).map(({ turn }) => turn)).toEqual([2, 4, 5]);
  });

  it("names every place in its receipt, and nothing of what it erased", async () => {
    const lily = await start({ model: echoModel() });
    const kept = await lily.send(`/remember ${FACT}`);
    const { record } = z.object({ record: z.object({ id: z.string() }) }).parse(kept.envelope.data);
    const reply = await lily.send(ERASE);
    const named = receiptOf(reply).lines.map(({ place }) => place);
    // Of a text, what a conversation remembers for itself is counted with memory.
    const places = PLACES.map(({ name }) => name).filter((place) => place !== "memory of its own");
    expect(places.filter((place) => !named.includes(place))).toEqual([]);
    expect(named).toEqual(expect.arrayContaining(["said in part", "database files", "backups"]));
    expect(JSON.stringify(reply)).not.toMatch(SAID);
    expect(JSON.stringify(reply)).not.toContain(record.id.slice(0, 8));
    const [turn] = await lily.turns(reply.sessionId);
    expect(turn?.messages[0]?.content).toBe("/forget … --everywhere --yes");
  });

  it("erases from tool results, failed turns, titles and sessions that were ended", async () => {
    const model = new ScriptedChatModel((messages) => {
      const last = messages.at(-1);
      if (last?.text.startsWith("break")) return { error: new Error("no model") };
      if (last?.text === "look") return LOOK;
      return "fine";
    });
    const lily = await start({ model, ...LOOKING });
    await lily.send("look");
    await lily.send("/title Zebrafish of Ostend that my neighbour keeps");
    await lily.send("/new");
    expect(await lily.send(`break: ${FACT}`)).toMatchObject({ outcome: "failed" });
    await lily.send("/rejoin");
    await lily.send("fine weather");
    const before = caught(lily).map(({ decoding }) => decoding);
    expect(before).toContain("base64, UTF-8");
    const reply = await lily.send(`/forget ${FACT} --everywhere --yes`);
    expect(outcomesOf(reply)).toMatchObject({
      memory: "nothing_found",
      transcripts: "erased 1",
      "failed turns": "erased 1",
      titles: "erased 1",
      blobs: "erased 1",
    });
    await expectGone(lily, model);
  });

  it("erases from a run that waits for a person, which then counts as not approved", async () => {
    const approve = tool(() => interrupt("May I?"), {
      name: "approve",
      description: "asks",
      schema: z.object({}),
    });
    const model = new ScriptedChatModel((messages) =>
      messages.at(-1)?.text === FACT ? { toolCalls: [{ id: "a", name: "approve", args: "{}" }] } : "fine",
    );
    const lily = await start({ model, adjust: (deps) => ({ ...deps, tools: [approve] }) });
    await lily.send("hello");
    expect(await lily.send(FACT)).toMatchObject({ envelope: { code: "turn_waiting" } });
    await lily.restart();
    expect(caught(lily)).not.toEqual([]);
    expect(outcomesOf(await lily.send(ERASE.replace("zebrafish", FACT)))).toMatchObject({
      checkpoints: "erased 1",
    });
    await expectGone(lily, model);
    expect((await lily.turns((await lily.chain()).latest)).map(({ turn }) => turn)).toEqual([1, 2, 3]);
  });

  it("erases a stored state that is damaged and cannot be read, of a session that says it", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId } = await lily.send(FACT);
    await lily.restart();
    const db = new Database(join(lily.folder, "checkpoints", "checkpointer.sqlite"));
    db.prepare("UPDATE checkpoints SET checkpoint = ? WHERE thread_id = ?").run(`{"half: ${FACT}`, sessionId);
    db.close();
    expect(caught(lily)).not.toEqual([]);
    const reply = await lily.send(`/forget ${FACT} --everywhere --yes`);
    expect(outcomesOf(reply)).toMatchObject({ transcripts: "erased 1" });
    await expectGone(lily);
  });

  it("answers a message that was erased with that it was, and does not answer it again", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send(FACT, { deliveryId: "d1" });
    const erased = await lily.send(`/forget ${FACT} --everywhere --yes`, { deliveryId: "d2" });
    const calls = model.calls.length;
    expect((await lily.send(FACT, { deliveryId: "d1" })).envelope.code).toBe("turn_erased");
    expect(await lily.send(`/forget ${FACT} --everywhere --yes`, { deliveryId: "d2" })).toEqual({
      ...erased,
      repeated: true,
    });
    expect(model.calls).toHaveLength(calls);
    await expectGone(lily, model);
  });

  it("keeps an old export from bringing the fact back", async () => {
    const files = new Map<string, string>();
    const lily = await start({
      model: echoModel(),
      adjust: (deps) => ({
        ...deps,
        files: {
          read: async (path) => files.get(path) ?? "",
          readBytes: async (path) => ({ path, bytes: Buffer.from(files.get(path) ?? "") }),
          write: async (path, text) => (files.set(path, text), path),
        },
      }),
    });
    await lily.send(`/remember ${FACT}`);
    await lily.send("/memory export old.json");
    await lily.send(ERASE);
    expect((await lily.send("/memory import old.json")).envelope.data).toMatchObject({
      added: 0,
      forgotten: 1,
    });
    await expectGone(lily);
  });

  it("reaches the turns that another program has read", async () => {
    const model = echoModel();
    const one = await start({ model });
    const other = await start({
      model,
      adjust: (deps) => ({ ...deps, ids: createSequentialIds(77) }),
      wrapStorage: onFilesOf(one),
    });
    await one.send(FACT);
    await other.send("first");
    expect(inputOf(model).join("\n")).toMatch(SAID);
    expect((await one.send(`/forget ${FACT} --everywhere --yes`)).envelope.ok).toBe(true);
    await other.send("second");
    expect(inputOf(model).join("\n")).not.toMatch(SAID);
    expect(caught(one)).toEqual([]);
  });

  it("erases from the other keys of the owner, and from nobody else's", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send(FACT, { sessionKey: "telegram:dm:42" });
    for (const owner of ["loca", "local2", "local%"]) await lily.send(FACT, { owner });
    const reply = await lily.send(`/forget ${FACT} --everywhere --yes`);
    expect(outcomesOf(reply)).toMatchObject({ transcripts: "erased 1" });
    expect(await problemsOf(lily)).toEqual([]);
    for (const owner of ["loca", "local2", "local%"]) {
      const { envelope } = await lily.send("/history", { owner });
      expect(JSON.stringify(envelope)).toMatch(SAID);
    }
  });

  it("says on which key a turn is running, leaves it alone, and finishes when it is asked again", async () => {
    const lily = await start({ model: echoModel(), adjust: (deps) => deps });
    await lily.send(FACT, { sessionKey: "other" });
    await lily.send(FACT);
    const lease = await lily.storage.locks.acquire("turn/local/other");
    const first = await lily.send(`/forget ${FACT} --everywhere --yes`);
    expect(first.envelope).toMatchObject({ ok: false, code: "erasure_unfinished" });
    expect(first.envelope.message).toContain('"other"');
    expect(outcomesOf(first)["transcripts"]).toBe("unfinished");
    await lease.release();
    expect((await lily.send(`/forget ${FACT} --everywhere --yes`)).envelope).toMatchObject({ ok: true });
    await expectGone(lily);
  });

  it("finishes by the same id what a running turn held up", async () => {
    const lily = await start({ model: echoModel(), adjust: (deps) => deps });
    const kept = await lily.send(`/remember ${FACT}`);
    const { record } = z.object({ record: z.object({ id: z.string() }) }).parse(kept.envelope.data);
    await lily.send(FACT, { sessionKey: "other" });
    const lease = await lily.storage.locks.acquire("turn/local/other");
    const command = `/forget ${record.id.slice(0, 8)} --everywhere --yes`;
    expect((await lily.send(command)).envelope).toMatchObject({
      code: "erasure_unfinished",
      next: "Erase the same again: it goes on where it was.",
    });
    await lease.release();
    expect((await lily.send(command)).envelope).toMatchObject({ ok: true, code: "erased" });
    await expectGone(lily);
    expect((await lily.send(command)).envelope.next).toContain("/forget <its words> --everywhere");
  });

  it("shows what would go and changes nothing without a yes", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send(`/remember ${FACT}`);
    await lily.send("hello");
    for (const [flag, code] of [
      ["", "confirmation_needed"],
      ["--dry-run", "memory_erase_preview"],
      ["--yes --dry-run", "memory_erase_preview"],
    ] as const) {
      const { turn, envelope } = await lily.send(`/forget zebrafish --everywhere ${flag}`);
      expect({ turn, code: envelope.code }).toEqual({ turn: null, code });
      expect(envelope.data).toMatchObject({
        turns: [{ sessionKey: KEY, session: 1, turn: 1, kind: "command" }],
        records: [{ text: FACT }],
      });
    }
    expect(await lily.turns((await lily.chain()).latest)).toHaveLength(2);
  });

  it("asks back when several facts fit, and erases nothing then", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember My dog eats fish");
    await lily.send("/remember My cat eats fish");
    for (const flag of ["", "--yes"])
      expect((await lily.send(`/forget fish --everywhere ${flag}`)).envelope.code).toBe("memory_ambiguous");
    expect(await lily.turns((await lily.chain()).latest)).toHaveLength(2);
    expect((await lily.send("/forget 0badc0de --everywhere --yes")).envelope.code).toBe("memory_not_found");
    expect((await lily.send("/forget of --everywhere --yes")).envelope.code).toBe("command_usage");
  });

  it("R-2: erases names of every script, and no word that a name is a part of", async () => {
    const names = [
      ["王芳", "昨天王芳来了，她很高兴"],
      ["서울", "우리는 서울에서 만났다"],
      ["Bo", "I met Bo🎉 in town"],
      ["Quimbleton", "by Quimbleton's gate"],
    ] as const;
    const lily = await start({ model: echoModel() });
    for (const [, text] of names) await lily.send(text);
    await lily.send("a border of bottles");
    for (const [name, text] of names) {
      const reply = await lily.send(`/forget ${name} --everywhere --yes`);
      expect(outcomesOf(reply)).toMatchObject({ transcripts: "erased 1" });
      expect(hunt(lily.folder, { text, words: [text] })).toEqual([]);
    }
    expect((await lily.turns((await lily.chain()).latest)).map(({ turn }) => turn)).toEqual([5, 6, 7, 8, 9]);
  });

  it("R-3: leaves a fact and a turn that share a date, a time and an amount with it", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember The dentist is on 2026-12-01 at 14:30, 80 EUR");
    await lily.send("/remember The rent is due on 2026-12-01 at 14:30, 80 EUR");
    await lily.send("the train leaves at 14:30 on 2026-12-01");
    const reply = await lily.send("/forget dentist --everywhere --yes");
    expect(outcomesOf(reply)).toMatchObject({ memory: "erased 1", transcripts: "erased 1" });
    expect(JSON.stringify(await lily.send("/memory show rent"))).toContain("The rent is due");
    expect((await lily.turns((await lily.chain()).latest)).map(({ turn }) => turn)).toEqual([2, 3, 4]);
  });

  it("R-6: erases arguments of /model from marks and chains, and seals verify", async () => {
    const models = ["openai:zebrafish", "openai:gpt-zebrafish-mini", "openai:魚zebrafish"];
    const lily = await start({ model: echoModel() });
    for (const model of models) {
      await lily.send(`/model ${model}`);
      await lily.send("/new");
      await lily.send("hello");
      await lily.send("/new");
      expect(JSON.stringify(await lily.chain())).toContain(model);
    }
    for (const model of models)
      expect((await lily.send(`/forget ${model} --everywhere --yes`)).envelope.ok).toBe(true);
    expect(JSON.stringify(await lily.chain())).not.toContain("zebrafish");
    expect(await problemsOf(lily)).toEqual([]);
    await lily.restart();
    expect(hunt(lily.folder, { text: "zebrafish", words: ["zebrafish"] })).toEqual([]);
  });

  it("counts facts of every task among those that fit", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember My dog eats fish");
    await lily.send("/remember --task apollo The crew eats fish");
    const { envelope } = await lily.send("/forget eats fish --everywhere --yes");
    expect(envelope).toMatchObject({
      code: "memory_ambiguous",
      data: { records: expect.arrayContaining([expect.objectContaining({ task: "apollo" })]) },
    });
    expect(envelope.data?.["records"]).toHaveLength(2);
    // Of a task alone, and without --everywhere, as before.
    for (const command of ["/forget crew --task apollo --everywhere", "/forget dog --dry-run"])
      expect((await lily.send(command)).envelope.code).not.toBe("memory_ambiguous");
    expect((await lily.send("/forget crew --dry-run")).envelope.code).toBe("memory_not_found");
    expect((await lily.send("/forget crew --everywhere")).envelope.data).toMatchObject({
      records: [{ text: "The crew eats fish" }],
    });
  });

  it("takes a fact that is given whole, though another one has all its words", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/remember The dog eats fish");
    await lily.send("/remember --task apollo The dog of the crew eats fish");
    const { envelope } = await lily.send("/forget the dog eats fish! --everywhere");
    expect(envelope).toMatchObject({ code: "confirmation_needed" });
  });

  it("is refused on a thread that is addressed without a lock, and stores nothing of it", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("hello");
    const thread = (await lily.chain()).latest;
    const result: unknown = await lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: `/forget ${FACT} --everywhere --yes`, id: "d1" }] },
      {
        configurable: { thread_id: thread },
        context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
        durability: "exit",
      },
    );
    expect(result).toMatchObject({ reply: { turn: null, envelope: { code: "erasure_unsupported" } } });
    expect(caught(lily)).toEqual([]);
  });
});
