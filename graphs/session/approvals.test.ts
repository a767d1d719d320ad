import { tool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { normalizeHitlInterruptPayload } from "@langchain/langgraph-sdk/ui";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { approvalIn, parseAnswer, type Decision } from "#src/tools/approval.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { KEY, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import { onFilesOf } from "./testing/on-files-of.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** A model that calls `write` when it is told to go, as often as `times` says, and then says what it was told. */
function writer({ times = 1, name = "write" } = {}) {
  return new ScriptedChatModel((messages) => {
    const last = messages.at(-1);
    const text = last?.text ?? "";
    if (last?.type !== "human") return { text: `told: ${text}` };
    if (!text.startsWith("go")) return { text: `re: ${text}` };
    const calls = Array.from({ length: times }, (_one, index) => ({
      id: `${index}`,
      name,
      args: `{"path":"a${index}"}`,
    }));
    return { toolCalls: calls };
  });
}

/** A tool that says that it changes something, and what it ran with. */
function writing() {
  const ran: string[] = [];
  const write = tool(({ path }) => `wrote ${ran.push(path)} ${path}`, {
    name: "write",
    description: "Writes a file",
    schema: z.object({ path: z.string() }),
    metadata: { annotations: { readOnlyHint: false } },
  });
  return { ran, write };
}

async function open(options: { config?: object; times?: number } = {}) {
  const { ran, write } = writing();
  const model = writer(options);
  const config = options.config ?? {};
  const lily = await start({ model, config, adjust: (deps) => ({ ...deps, tools: [write] }) });
  return { lily, model, ran, write };
}

const idOf = (reply: TurnReply): string => approvalIn(reply.envelope.data)?.id ?? "";
const answer = (lily: Harness, id: string, decision: Decision) =>
  lily.sessions.approve({ owner: OWNER, sessionKey: KEY, id, decision });

/** What LangGraph's own clients see and send. */
async function stream(lily: Harness, threadId: string, input: object) {
  const result: unknown = await lily.sessions.graph.invoke(input, {
    configurable: { thread_id: threadId },
    context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
  });
  return result as { reply?: TurnReply; __interrupt__?: { value: Record<string, unknown> }[] };
}

/** What agent-chat-ui takes for a question that it has buttons for (its `isAgentInboxInterruptSchema`, July 2026), as `useStream` gives it. */
function hasButtonsInAgentChat(sent: Record<string, unknown>): boolean {
  const isList = (list: unknown): list is Record<string, unknown>[] =>
    Array.isArray(list) && list.length > 0 && list.every((one) => typeof one === "object" && one !== null);
  const value = normalizeHitlInterruptPayload(sent) as Record<string, unknown>;
  const { action_requests: actions, review_configs: configs } = value;
  return (
    isList(actions) &&
    isList(configs) &&
    actions.every(
      ({ name, args }) => typeof name === "string" && typeof args === "object" && args !== null,
    ) &&
    configs.every((one) => typeof one["action_name"] === "string" && Array.isArray(one["allowed_decisions"]))
  );
}

const lastTurn = async (lily: Harness) => (await lily.turns(latestOf(await lily.chain()).sessionId)).at(-1);

describe("a call that changes something", () => {
  it("waits for a person, and runs once it is approved", async () => {
    const { lily, ran } = await open();
    const waiting = await lily.send("go");
    expect(waiting).toMatchObject({
      outcome: "failed",
      envelope: {
        code: "turn_waiting",
        data: { approval: { tool: "write", args: { path: "a0" }, changes: true } },
      },
    });
    expect(ran).toEqual([]);
    const reply = await answer(lily, idOf(waiting), { type: "approve" });
    expect(reply).toMatchObject({ outcome: "answered", envelope: { message: "told: wrote 1 a0" } });
    expect(ran).toEqual(["a0"]);
    expect((await lastTurn(lily))?.explanation.approvals).toMatchObject([
      { tool: "write", decision: "approve", callId: "0" },
    ]);
    expect((await lily.send("/why")).envelope.message).toContain("you were asked: write: approved");
    const { text } = (await lily.send("/explain")).envelope;
    expect(text).toContain("asked you: approve");
  });

  it("does not run when it is rejected, and the model is told why", async () => {
    const { lily, ran } = await open();
    const waiting = await lily.send("go");
    const reply = await answer(lily, idOf(waiting), { type: "reject", message: "not that file" });
    expect(reply.envelope.message).toBe("told: not run: the user did not approve write: not that file");
    expect(ran).toEqual([]);
  });

  it("runs with the arguments that the person gave it, which the model is told", async () => {
    const { lily, ran } = await open();
    const waiting = await lily.send("go");
    const editedAction = { name: "write", args: { path: "b" } };
    const reply = await answer(lily, idOf(waiting), { type: "edit", editedAction });
    expect(ran).toEqual(["b"]);
    expect(reply.envelope.message).toContain('called with {"path":"b"}.\nwrote 1 b');
  });

  it("cannot be edited into a call of another tool", async () => {
    const { lily, ran } = await open();
    const waiting = await lily.send("go");
    const editedAction = { name: "delete", args: {} };
    const reply = await answer(lily, idOf(waiting), { type: "edit", editedAction });
    expect(reply.envelope.code).toBe("request_invalid");
    expect((await answer(lily, idOf(waiting), { type: "approve" })).outcome).toBe("answered");
    expect(ran).toEqual(["a0"]);
  });

  it("is asked about one at a time", async () => {
    const { lily, ran } = await open({ times: 2 });
    const first = await lily.send("go");
    const second = await answer(lily, idOf(first), { type: "reject" });
    expect(second.envelope).toMatchObject({
      code: "turn_waiting",
      data: { approval: { args: { path: "a1" } } },
    });
    expect(idOf(second)).not.toBe(idOf(first));
    await answer(lily, idOf(second), { type: "approve" });
    expect(ran).toEqual(["a1"]);
  });

  it("is not asked about again in its session when the person says always, and is in the next one", async () => {
    const { lily, ran } = await open({ times: 2 });
    const waiting = await lily.send("go");
    expect(await answer(lily, idOf(waiting), { type: "approve", always: true })).toMatchObject({ turn: 1 });
    await lily.restart();
    expect(await lily.send("go on")).toMatchObject({ outcome: "answered" });
    expect(ran).toEqual(["a0", "a1", "a0", "a1"]);
    expect((await lily.send("/new go")).envelope.code).toBe("turn_waiting");
  });
});

describe("the rules for tools", () => {
  it("let a tool run, ask about it, or keep it from running, by agent before all others", async () => {
    const config = { tools: { policy: { write: "deny" } }, agents: { lily: { tools: { "*": "allow" } } } };
    const { lily, ran } = await open({ config });
    expect((await lily.send("go")).envelope.message).toBe("told: wrote 1 a0");
    await lily.restart({ tools: { policy: { write: "deny" } } });
    expect((await lily.send("go")).envelope.message).toBe(
      "told: not run: the rules for tools do not allow write",
    );
    expect(ran).toEqual(["a0"]);
  });
});

describe("the rules that a session began with", () => {
  const rules = (write?: string) => (write === undefined ? {} : { tools: { policy: { write } } });

  it("hold where those of now are looser, until it takes them over or the next one begins", async () => {
    const { lily, ran } = await open({ config: rules() });
    await lily.send("hello");
    await lily.restart(rules("allow"));
    expect((await lily.send("go")).envelope.code).toBe("turn_waiting");
    expect((await lily.send("/status")).envelope.data).toMatchObject({ differs: { tools: true } });
    expect((await lily.send("/tools")).envelope.text).toContain(
      "| you are asked; after /reload_tools runs |",
    );
    expect((await lily.send("/reload_tools")).envelope.text).toContain("| write | you are asked | runs |");
    expect((await lily.send("go")).envelope.message).toBe("told: wrote 1 a0");
    expect((await lily.send("/tools")).envelope.data).toMatchObject({ differs: false });
    await lily.send("/new hello");
    await lily.restart(rules());
    expect((await lily.send("go")).envelope.code).toBe("turn_waiting");
    expect(ran).toEqual(["a0"]);
  });

  it("give way at once to stricter ones, and are those of the agent that answers", async () => {
    const { lily, ran } = await open({
      config: { ...rules("allow"), agents: { coder: { tools: { write: "ask" } } } },
    });
    expect((await lily.send("/status")).envelope.data).toMatchObject({ differs: { tools: false } });
    expect((await lily.send("go")).envelope.message).toBe("told: wrote 1 a0");
    await lily.send("/agent coder");
    expect((await lily.send("go")).envelope.code).toBe("turn_waiting");
    await lily.restart({ ...rules("allow"), agents: { coder: { tools: { write: "deny" } } } });
    expect((await lily.send("go")).envelope.message).toContain("do not allow write");
    await lily.restart(rules("allow"));
    expect((await lily.send("go")).envelope.code).toBe("turn_waiting");
    expect(ran).toEqual(["a0"]);
  });

  it("keep a tool that may not run from being offered, and from running where it is called anyway", async () => {
    const { lily, model, ran } = await open({ config: rules("deny") });
    expect((await lily.send("go")).envelope.message).toContain("do not allow write");
    expect(model.calls[0]?.toolNames).not.toContain("write");
    expect(model.calls[0]?.toolNames).toContain("session_recall");
    expect((await lily.send("/tools")).envelope.text).toContain(
      "| write | the program | ready | does not run |",
    );
    expect(ran).toEqual([]);
  });
});

describe("a question", () => {
  it("is there in another process, which answers it; the tool runs once", async () => {
    const { lily, model, ran, write } = await open();
    const waiting = await lily.send("go");
    const other = await start({
      model,
      adjust: (deps) => ({ ...deps, tools: [write] }),
      wrapStorage: onFilesOf(lily),
    });
    const ref = { owner: OWNER, sessionKey: KEY };
    expect((await other.sessions.openApproval(ref))?.approval.id).toBe(idOf(waiting));
    expect(await answer(other, idOf(waiting), { type: "approve" })).toMatchObject({ outcome: "answered" });
    expect((await answer(lily, idOf(waiting), { type: "approve" })).envelope.code).toBe("approval_answered");
    expect(ran).toEqual(["a0"]);
    expect(await lily.sessions.openApproval(ref)).toBeUndefined();
  });

  it("is answered once, however many answer at once", async () => {
    const { lily, ran } = await open();
    const id = idOf(await lily.send("go"));
    const replies = await Promise.all([1, 2, 3].map(() => answer(lily, id, { type: "approve" })));
    expect(replies.map(({ envelope }) => envelope.code).toSorted()).toEqual([
      "answered",
      "approval_answered",
      "approval_answered",
    ]);
    expect(ran).toEqual(["a0"]);
    expect((await answer(lily, "other", { type: "approve" })).envelope.code).toBe("approval_not_found");
  });

  it("is asked again under the same id when its message comes again, also without its checkpoint", async () => {
    const { lily, ran, model } = await open();
    const first = await lily.send("go", { deliveryId: "d" });
    await lily.restart();
    expect(await lily.send("go", { deliveryId: "d" })).toEqual(first);
    await lily.storage.checkpointer.deleteThread(latestOf(await lily.chain()).sessionId);
    const lost = await answer(lily, idOf(first), { type: "approve" });
    expect(lost.envelope).toMatchObject({
      code: "turn_conflict",
      next: expect.stringContaining("Nothing was run"),
    });
    expect(idOf(await lily.send("go", { deliveryId: "d" }))).toBe(idOf(first));
    expect((await answer(lily, idOf(first), { type: "approve" })).outcome).toBe("answered");
    expect(ran).toEqual(["a0"]);
    expect(model.calls).toHaveLength(2);
  });

  it("is answered with no by another message, and by the end of the conversation", async () => {
    const { lily, ran } = await open();
    const first = idOf(await lily.send("go"));
    expect(await lily.send("never mind")).toMatchObject({ outcome: "answered", turn: 2 });
    expect((await answer(lily, first, { type: "approve" })).envelope).toMatchObject({
      code: "approval_answered",
      message: expect.stringContaining("closed by a later message"),
    });
    const second = idOf(await lily.send("go"));
    await lily.send("/new");
    expect((await answer(lily, second, { type: "approve" })).envelope.code).toBe("approval_answered");
    expect(ran).toEqual([]);
  });

  it("has the form that clients of LangChain read and answer, under both its names", async () => {
    const { lily, ran } = await open();
    await lily.send("hello");
    const { sessionId } = latestOf(await lily.chain());
    const waiting = await stream(lily, sessionId, { messages: [{ role: "user", content: "go", id: "g" }] });
    const value = waiting.__interrupt__?.[0]?.value ?? {};
    expect(hasButtonsInAgentChat(value)).toBe(true);
    expect(value).toMatchObject({
      actionRequests: [
        { name: "write", args: { path: "a0" }, description: expect.stringContaining("Writes a file.") },
      ],
      reviewConfigs: [{ actionName: "write", allowedDecisions: ["approve", "edit", "reject"] }],
    });
    const edit = { type: "edit", edited_action: { name: "write", args: { path: "b" } } };
    const done = await stream(lily, sessionId, new Command({ resume: { decisions: [edit] } }));
    expect(done.reply?.outcome).toBe("answered");
    expect(ran).toEqual(["b"]);
    const again = await stream(lily, sessionId, new Command({ resume: { decisions: [edit] } }));
    expect(again.__interrupt__).toBeUndefined();
    expect(ran).toEqual(["b"]);
  });

  it("is not answered by what a page says of an open call beside its next message", async () => {
    const { lily, ran } = await open();
    await lily.send("hello");
    const { sessionId } = latestOf(await lily.chain());
    await stream(lily, sessionId, { messages: [{ role: "user", content: "go", id: "g" }] });
    const done = { type: "tool", content: "Successfully handled tool call.", tool_call_id: "0", id: "d" };
    await stream(lily, sessionId, { messages: [done, { role: "user", content: "no", id: "n" }] });
    const turns = JSON.stringify(await lily.turns(sessionId));
    expect(turns).not.toContain("Successfully handled");
    expect(turns).toContain("not approved");
    expect(ran).toEqual([]);
  });

  it.each([
    [3, "7", 7],
    [3, "many", "many"],
    [3, "[1]", "[1]"],
    [["a"], '["x"]', ["x"]],
    [{ a: 1 }, '{"b":2}', { b: 2 }],
    [true, "false", false],
    ["3", "7", "7"],
    [null, "7", "7"],
  ])("takes an argument that was %j and comes back as the text %j for %j", (before, text, after) => {
    const approval = { id: "1", tool: "write", args: { value: before }, description: "", changes: true };
    const edit = { type: "edit", edited_action: { name: "write", args: { value: text, more: "7" } } };
    expect(parseAnswer({ decisions: [edit] }, approval)).toMatchObject({
      decision: { editedAction: { args: { value: after, more: "7" } } },
    });
  });

  it("is asked again, with the reason, when the answer cannot be understood", async () => {
    const { lily, ran } = await open();
    await lily.send("go");
    const { sessionId } = latestOf(await lily.chain());
    const approve = { type: "approve" };
    const edit = { type: "edit", editedAction: { name: "delete", args: {} } };
    for (const resume of [
      "well",
      true,
      {},
      { decisions: [] },
      { decisions: [approve, approve] },
      { decisions: [{ type: "yes" }] },
      { decisions: [edit] },
    ]) {
      const again = await stream(lily, sessionId, new Command({ resume }));
      expect(JSON.stringify(again.__interrupt__)).toMatch(
        /The answer was not understood|cannot be run in its place/u,
      );
    }
    expect(ran).toEqual([]);
    await stream(lily, sessionId, new Command({ resume: { decisions: [{ type: "approve" }] } }));
    expect(ran).toEqual(["a0"]);
  });
});
