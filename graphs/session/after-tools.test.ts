/** A turn whose tools have run and that cannot be ended: its delivery goes on from there, and no tool runs a second time. */
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { inputOf, OWNER, systemOf, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

interface Parts {
  readonly lily: Harness;
  readonly model: ScriptedChatModel;
  readonly ran: string[];
}

/** A model that calls `note` for "do it" and then answers, unless it is down; `during` happens while the tool runs. */
async function open(options: { during?: (lily: Harness) => void; downCalls?: number } = {}): Promise<Parts> {
  const ran: string[] = [];
  const started: { lily?: Harness } = {};
  const note = tool(
    () => {
      ran.push("note");
      if (ran.length === 1 && started.lily !== undefined) options.during?.(started.lily);
      return "noted";
    },
    { name: "note", description: "notes", schema: z.object({}) },
  );
  let downCalls = options.downCalls ?? 0;
  const model = new ScriptedChatModel((messages) => {
    const last = messages.at(-1);
    if (last?.type === "human" && last.text === "do it")
      return { toolCalls: [{ id: "c", name: "note", args: {} }] };
    if (last?.type !== "tool") return `re: ${last?.text ?? ""}`;
    downCalls -= 1;
    return downCalls >= 0 ? { error: Object.assign(new Error("no"), { status: 401 }) } : "done";
  });
  const lily = await start({ model, adjust: (deps) => ({ ...deps, tools: [note] }) });
  started.lily = lily;
  await lily.send("hello");
  return { lily, model, ran };
}

/** Another program takes the key over while its holder hangs, and gives it back. */
function takeLease(lily: Harness): void {
  const db = new Database(join(lily.folder, "memory", "store.sqlite"));
  db.prepare("UPDATE leases SET token = token + 1, holder = 'another', expires_at = 0").run();
  db.close();
}

const isWhole = async (lily: Harness) => (await verifyOwner(lily.sessions.repository, OWNER)).ok;

describe.each([
  ["the model failed", { downCalls: 1 }, { code: "model_failed", status: "interrupted", said: [] }],
  [
    "the lease was lost",
    { during: takeLease },
    { code: "lease_lost", status: "completed", said: ["ai: done"] },
  ],
] as const)("a turn whose tools have run when %s", (_why, options, { code, status, said }) => {
  it("is told as failed, with what to do", async () => {
    const { lily } = await open(options);
    const failed = await lily.send("do it", { deliveryId: "d" });
    expect(failed).toMatchObject({ outcome: "failed", envelope: { code } });
    expect(failed.envelope.next).toMatch(/What its tools did is kept: send the message again/u);
  });

  it.each(["in the same program", "after a restart"])("goes on when it is sent again %s", async (where) => {
    const { lily, ran, model } = await open(options);
    const { turn } = await lily.send("do it", { deliveryId: "d" });
    expect(turn).toBeNull();
    if (where === "after a restart") await lily.restart();
    const again = await lily.send("do it", { deliveryId: "d" });
    expect(again).toMatchObject({ outcome: "answered", turn: 2, envelope: { message: "done" } });
    expect(ran).toEqual(["note"]);
    expect(inputOf(model).slice(-1)).toEqual(["tool: noted"]);
    expect(await lily.send("do it", { deliveryId: "d" })).toMatchObject({ repeated: true });
    expect(await isWhole(lily)).toBe(true);
  });

  it("is committed as it stands when something else is said instead", async () => {
    const { lily, ran, model } = await open(options);
    await lily.send("do it", { deliveryId: "d" });
    expect(await lily.send("never mind")).toMatchObject({ outcome: "answered", turn: 3 });
    expect(inputOf(model).slice(2)).toEqual([
      "human: do it",
      "ai: ",
      "tool: noted",
      ...said,
      "human: never mind",
    ]);
    expect(await lily.send("do it", { deliveryId: "d" })).toMatchObject({ turn: 2, status });
    expect(ran).toEqual(["note"]);
    expect(await isWhole(lily)).toBe(true);
  });
});

describe("a turn whose lease was lost", () => {
  it("leaves what its new holder has answered as it is", async () => {
    const { lily, ran } = await open({ during: takeLease });
    await lily.send("do it", { deliveryId: "d" });
    await lily.send("never mind", { deliveryId: "e" });
    await lily.restart();
    for (const [text, deliveryId, turn] of [
      ["do it", "d", 2],
      ["never mind", "e", 3],
    ] as const)
      expect(await lily.send(text, { deliveryId })).toMatchObject({ repeated: true, turn });
    expect(ran).toEqual(["note"]);
  });
});

describe("a turn that goes on later", () => {
  it("is shown what is there by then, and not what its program remembers: the time, and nothing erased", async () => {
    const { lily, model } = await open({ downCalls: 1 });
    await lily.send("do it", { deliveryId: "d" });
    lily.clock.advance(10 * 60_000);
    expect(await lily.send("do it", { deliveryId: "d" })).toMatchObject({ envelope: { message: "done" } });
    const systems = [-2, -1].map((call) => systemOf(model, model.calls.length + call));
    expect(systems.map((text) => /09:\d\d/u.exec(text)?.[0])).toEqual(["09:00", "09:10"]);
  });
});

/** A server that numbers the calls of each answer anew, and a tool that is called twice in one turn. */
async function numberedAnew(onRun: (lily: Harness, run: number) => void) {
  const ran: string[] = [];
  const started: { lily?: Harness } = {};
  const schema = z.object({ what: z.string() });
  const note = tool(
    ({ what }) => {
      ran.push(what);
      if (started.lily !== undefined) onRun(started.lily, ran.length);
      return `noted ${what}`;
    },
    { name: "note", description: "notes", schema },
  );
  const calls = (what: string) => ({ toolCalls: [{ id: "call_0", name: "note", args: { what } }] });
  const model = new ScriptedChatModel((messages) => {
    const results = messages.filter(({ type }) => type === "tool").length;
    return messages.at(-1)?.text === "hello" ? "re" : results < 2 ? calls(`n${results + 1}`) : "done";
  });
  const lily = await start({ model, adjust: (deps) => ({ ...deps, tools: [note] }) });
  started.lily = lily;
  await lily.send("hello");
  return { lily, model, ran };
}

describe("a turn whose model numbers the calls of each answer anew", () => {
  it("runs each call once, also where what the first did could not be noted", async () => {
    const failing = (lily: Harness, run: number): void => {
      const { store } = lily.storage;
      const put = store.put.bind(store);
      if (run !== 1) return;
      store.put = async (...args) => {
        store.put = put;
        if (args[0][0] === "in-flight") throw new Error("no");
        return put(...args);
      };
    };
    const { lily, model, ran } = await numberedAnew(failing);
    expect((await lily.send("do both")).envelope.message).toBe("done");
    expect(ran).toEqual(["n1", "n2"]);
    expect(inputOf(model).slice(-3)).toEqual(["tool: noted n1", "ai: ", "tool: noted n2"]);
  });

  it("has a result of its own for each call in the state", async () => {
    const { lily } = await numberedAnew(() => undefined);
    const { sessionId } = await lily.send("do both");
    const { values } = await lily.sessions.graph.getState({ configurable: { thread_id: sessionId } });
    const { messages } = values as { messages: { type: string; text: string; id?: string }[] };
    const results = messages.filter(({ type }) => type === "tool");
    expect(results.map(({ text }) => text)).toEqual(["noted n1", "noted n2"]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(2);
  });
});
