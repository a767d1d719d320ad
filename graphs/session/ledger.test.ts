import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { isRedacted } from "#src/sessions/redaction.ts";
import { echoModel, KEY, latestOf, OWNER, systemOf } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** What the latest call was told of the ledger. */
function told(model: ScriptedChatModel): string {
  return /<ledger>\n([\s\S]*)\n<\/ledger>/u.exec(systemOf(model))?.[1] ?? "";
}

/** A model that calls a tool when the message names one, and otherwise answers. */
function notingModel(
  calls: Readonly<Record<string, readonly [name: string, args: object]>>,
): ScriptedChatModel {
  return new ScriptedChatModel((messages) => {
    const last = messages.at(-1);
    const call = last?.type === "human" ? calls[last.text] : undefined;
    if (call === undefined) return "noted";
    const [name, args] = call;
    return { toolCalls: [{ id: "c1", name, args: { ...args } }] };
  });
}

describe("/todo and /decided", () => {
  it("note, list and close; the model is told what is open, also after a restart", async () => {
    const model = echoModel();
    const lily = await start({ model });
    expect(await lily.send("/todo book BA117 for <Anna>")).toMatchObject({
      turn: 1,
      envelope: { code: "todo_noted", data: { number: 1 } },
    });
    await lily.send("/decided we use Postgres 16");
    await lily.restart();
    await lily.send("hello");
    expect(told(model)).toBe("1. task: book BA117 for &lt;Anna&gt;\n2. decision: we use Postgres 16");
    expect(await lily.send("/todo done 1")).toMatchObject({ envelope: { code: "todo_closed" } });
    await lily.send("hello again");
    expect(told(model)).toBe("2. decision: we use Postgres 16");
    const list = await lily.send("/todo list");
    expect(list).toMatchObject({ turn: null, envelope: { code: "todo" } });
    expect(list.envelope.text).toContain("| 1 | book BA117 for <Anna> | done | turn 1 |");
    await lily.send("/decided drop 2");
    expect((await lily.send("/decided")).envelope.message).toBe("0 decisions noted, of 1.");
  });

  it("refuses a secret by the rule of memory, and nothing of it is stored", async () => {
    const lily = await start({ model: echoModel() });
    const reply = await lily.send("/todo log in with the password hunter2-Zebra!9");
    expect(reply).toMatchObject({ turn: null, envelope: { ok: false, code: "memory_policy_denied" } });
    expect(JSON.stringify(reply)).not.toContain("hunter2");
    expect((await lily.send("/todo")).envelope.data).toEqual({ entries: [] });
  });

  it("work where memory is switched off", async () => {
    const lily = await start({ model: echoModel(), config: { memory: { enabled: false } } });
    expect(await lily.send("/todo water the plants")).toMatchObject({ envelope: { code: "todo_noted" } });
  });

  it("are of one conversation: /new begins without them, /rejoin reads them with what it continues", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("/todo water the plants");
    await lily.send("/todo call Anna");
    await lily.send("/new");
    await lily.send("/todo buy milk");
    await lily.send("hello");
    expect(told(model)).toBe("1. task: buy milk");
    await lily.send("/rejoin");
    await lily.send("/todo done 2");
    await lily.send("hello");
    expect(told(model)).toBe("1. task: water the plants\n3. task: buy milk");
    expect((await lily.send("/todo")).envelope.text).toContain(
      "| 1 | water the plants | open | session 1, turn 1 |",
    );
  });

  it("are cleared with the working set where /new clears in place", async () => {
    const model = echoModel();
    const lily = await start({ model, config: { lifecycle: { mode: "legacy" } } });
    await lily.send("/todo water the plants");
    await lily.send("/new hello");
    expect(told(model)).toBe("");
    expect((await lily.send("/todo")).envelope.data).toEqual({ entries: [] });
  });
});

describe("the model's tools of the ledger", () => {
  it("note and close with the commit of their turn", async () => {
    const model = notingModel({
      "we take the red one": ["session_note", { kind: "decision", text: "the red one, item R-20" }],
      "rather not": ["session_done", { number: 1 }],
    });
    const lily = await start({ model });
    await lily.send("we take the red one");
    const { sessionId } = latestOf(await lily.chain());
    const [turn] = await lily.turns(sessionId);
    expect(turn?.changes).toEqual({
      ledger: [{ op: "note", number: 1, kind: "decision", text: "the red one, item R-20" }],
    });
    await lily.send("rather not");
    expect(told(model)).toBe("1. decision: the red one, item R-20");
    await lily.send("so?");
    expect(told(model)).toBe("");
  });

  it("note no secret", async () => {
    const text = "the password is hunter2-Zebra!9";
    const model = notingModel({ "note it": ["session_note", { kind: "task", text }] });
    const lily = await start({ model });
    await lily.send("note it");
    expect((await lily.send("/todo")).envelope.data).toEqual({ entries: [] });
    expect(model.calls.at(-1)?.messages.at(-1)?.content).toContain("not run: the text holds");
  });
});

describe("what erasing does to the ledger", () => {
  it("takes what an erased turn noted, also out of a session that continues it, and keeps the rest", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("/todo send the report to Quimbleton Ltd");
    await lily.send("/todo call Anna");
    await lily.send("/new");
    await lily.send("/rejoin");
    await lily.send("hello");
    expect(told(model)).toContain("Quimbleton");
    await lily.send("/forget Quimbleton Ltd --everywhere --yes");
    await lily.send("hello again");
    expect(told(model)).toBe("2. task: call Anna");
    const chain = await lily.chain();
    const ref = { owner: OWNER, sessionKey: KEY, sessionId: chain.sessions[0]?.sessionId ?? "" };
    const [first] = await lily.sessions.repository.readStoredTurns(ref, { from: 1, to: 1 });
    expect(first !== undefined && isRedacted(first) && first.changes).toEqual({
      ledger: [{ op: "erased", number: 1 }],
    });
  });
});
