/** `/forget --everywhere` in places that few conversations have: files hunted for the text afterwards. */
import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { heldModel } from "./testing/held-model.ts";
import { caught, FACT, LOOK, LOOKING, outcomesOf } from "./testing/forgotten-fact.ts";
import { echoModel, inputOf, KEY, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

const ERASE = `/forget ${FACT} --everywhere --yes`;

/** Nothing of it is left, now and after a restart; the rest verifies, and the conversation goes on without it. */
async function expectGone(lily: Harness, model?: ScriptedChatModel): Promise<void> {
  expect(caught(lily)).toEqual([]);
  await lily.restart();
  expect((await verifyOwner(lily.sessions.repository, OWNER)).problems).toEqual([]);
  expect(await lily.send("and what now?")).toMatchObject({ outcome: "answered" });
  if (model !== undefined) expect(inputOf(model).join("\n")).not.toMatch(/zebrafish|ostend/iu);
  await lily.restart();
  expect(caught(lily)).toEqual([]);
}

const fileOf = (text: string, filename = "notes.txt") => ({
  type: "file",
  source_type: "base64",
  mime_type: "text/plain",
  data: Buffer.from(text).toString("base64"),
  metadata: { filename },
});
const picture = {
  type: "image_url",
  image_url: { url: `data:image/png;base64,${Buffer.from(new Uint8Array(300).fill(7)).toString("base64")}` },
};
const said = (text: string) => ({ type: "text", text });

describe("/forget --everywhere reaches", () => {
  it("an attached file that says it, though the message does not", async () => {
    const model = new ScriptedChatModel(() => "seen");
    const lily = await start({ model });
    expect(await lily.send([said("keep this"), fileOf(`Notes.\n${FACT}.\n`)])).toMatchObject({
      outcome: "answered",
    });
    const reply = await lily.send(ERASE);
    expect(outcomesOf(reply)).toMatchObject({ blobs: "erased 1" });
    await expectGone(lily, model);
  });

  it("the name of an attached file, and a picture by its caption", async () => {
    const model = new ScriptedChatModel(() => "seen");
    const lily = await start({ model });
    await lily.send([said("keep this"), fileOf("nothing here", "neighbour keeps zebrafish in ostend.txt")]);
    await lily.send([said(FACT), picture]);
    const reply = await lily.send(ERASE);
    expect(outcomesOf(reply)).toMatchObject({ blobs: "erased 2", transcripts: "erased 2" });
    await expectGone(lily, model);
  });

  it("messages that were collected into one turn, whichever of them says it", async () => {
    const held = heldModel();
    const lily = await start({ model: held.model, config: { arrivals: { mode: "collect" } } });
    const first = lily.send("one", { deliveryId: "d1" });
    await held.asked(1);
    const later = ["two", FACT].map((text) => lily.send(text));
    await new Promise((resolve) => setImmediate(resolve));
    held.answer();
    await held.asked(2);
    held.answer();
    await Promise.all([first, ...later]);
    expect(outcomesOf(await lily.send(ERASE))).toMatchObject({ transcripts: "erased 1" });
    expect(caught(lily)).toEqual([]);
  });

  it("the name of a task, in its facts, in the conversation and in later sessions", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/task zebrafish of my neighbour in Ostend that she keeps");
    await lily.send("hello");
    await lily.send("/new");
    await lily.send("hello again");
    await lily.send("/remember --task apollo The rocket is blue");
    await lily.send("/task apollo");
    await lily.send(ERASE);
    await expectGone(lily);
  });

  it("facts that were put aside, contradict it, were replaced or were corrected", async () => {
    const script = [
      {
        toolCalls: [
          {
            id: "n1",
            name: "memory_remember",
            args: JSON.stringify({ text: `You must always say: ${FACT}` }),
          },
        ],
      },
      "noted",
    ];
    const model = new ScriptedChatModel(script);
    const lily = await start({ model, config: { memory: { tool: true } } });
    await lily.send("tell me");
    await lily.send(`/remember ${FACT}`);
    await lily.send("/remember My neighbour does not keep zebrafish in Ostend");
    await lily.send("/remember --task apollo My neighbour keeps zebrafish in Ostend, says the task");
    expect(caught(lily)).not.toEqual([]);
    expect((await lily.send(ERASE)).envelope).toMatchObject({ code: "erased" });
    expect(caught(lily)).toEqual([]);
    await lily.restart();
    expect(caught(lily)).toEqual([]);
  });

  it("a replay of an old checkpoint, and what it said", async () => {
    const lily = await start({ model: echoModel(), config: { storage: { keepTurns: 20 } } });
    await lily.send("hello");
    const { sessionId } = await lily.send(FACT);
    await lily.send("good");
    await lily.restart();
    const config = { configurable: { thread_id: sessionId } };
    const before = [];
    for await (const state of lily.sessions.graph.getStateHistory(config)) before.push(state.config);
    await lily.send(ERASE);
    const after = [];
    for await (const state of lily.sessions.graph.getStateHistory(config)) after.push(state.values);
    expect(JSON.stringify(after)).not.toContain("zebrafish");
    const context = { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined };
    for (const old of before.slice(0, 3))
      await lily.sessions.graph
        .invoke({ messages: [{ role: "user", content: "again", id: "again" }] }, { ...old, context })
        .catch(() => undefined);
    await expectGone(lily);
  });

  it("messages that were refused, on a key that nothing opened", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("hello");
    await lily.send(`/nosuch ${FACT}`, { sessionKey: "fresh" });
    await lily.send(`/nosuch ${FACT}`);
    await lily.send(`/forget ${FACT} --everywhere --wrong`, { sessionKey: "fresh2" });
    await lily.send(`${FACT} ${"x".repeat(300_000)}`, { sessionKey: "fresh3" });
    await lily.send(ERASE);
    await expectGone(lily);
  });

  it("evidence in a document, in its name, and in a session that was ingested", async () => {
    const files = { "notes.md": `# Notes\n\n${FACT}.\n\n# Other\n\nWater.` };
    const lily = await start({
      model: echoModel(),
      adjust: (deps) => ({
        ...deps,
        files: {
          read: async () => "",
          readBytes: async (path) => ({ path: `/home/${path}`, bytes: Buffer.from(files["notes.md"]) }),
          write: async (path) => path,
        },
      }),
    });
    await lily.send(FACT);
    await lily.send("/new");
    await lily.send("hello");
    for (const what of ["session:1", "notes.md"])
      expect((await lily.send(`/memory evidence ingest ${what}`)).envelope.ok).toBe(true);
    await lily.send("what does my neighbour keep in Ostend?");
    await lily.send(ERASE);
    await expectGone(lily);
  });

  it("a tool's long result that is named by a turn that says it in part", async () => {
    const model = new ScriptedChatModel((messages) => {
      const last = messages.at(-1);
      if (last?.text === "look") return LOOK;
      return "fine";
    });
    const lily = await start({ model, ...LOOKING });
    await lily.send("look");
    await lily.send("look");
    await lily.send("/new");
    await lily.send("look", { sessionKey: "other" });
    await lily.send(ERASE);
    await expectGone(lily, model);
  });
});
