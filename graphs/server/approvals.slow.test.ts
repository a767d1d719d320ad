/** A call of a tool that a person is asked about, on a LangGraph server, as Studio and chat pages answer it by its SDK. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startModelledServer, type ModelledServer } from "./testing/modelled-server.ts";
import { GRAPH, connect, parseOutput, payloadOf } from "./testing/session-client.ts";

vi.setConfig({ testTimeout: 120_000 });

let started: ModelledServer;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "lily-approval-"));
  writeFileSync(join(home, "config.json"), JSON.stringify({ tools: { policy: { session_note: "ask" } } }));
  started = await startModelledServer({ LILY_HOME: home });
}, 70_000);

afterAll(async () => {
  await started?.stop();
  rmSync(home, { recursive: true, force: true });
});

const note = (id: string) =>
  ({
    kind: "toolCalls",
    calls: [{ id, name: "session_note", arguments: `{"kind":"task","text":"water plant ${id}"}` }],
  }) as const;

it("waits with the question in its state, also over a restart, and goes on with the decision, once", async () => {
  const { models, server } = started;
  const { client, newThread, transcript } = connect(server.url);
  const thread = await newThread();
  const resume = (decision: object) =>
    client.runs.wait(thread, GRAPH, { command: { resume: { decisions: [decision] } } });
  models.enqueue(note("1"));
  await client.runs.wait(thread, GRAPH, payloadOf("note it", { sessionKey: "k" }));
  await server.restart();
  const { tasks } = await client.threads.getState(thread);
  expect(tasks[0]?.interrupts[0]?.value).toMatchObject({
    action_requests: [{ name: "session_note", args: { text: "water plant 1" } }],
    reviewConfigs: [{ actionName: "session_note" }],
  });
  const done = parseOutput(await resume({ type: "approve" }));
  expect(done.reply).toMatchObject({ outcome: "answered", turn: 1 });
  await resume({ type: "approve" }).catch(() => undefined);
  const [turn, ...others] = await transcript("k", thread);
  expect(others).toEqual([]);
  expect(turn?.messages.map(({ role, content }) => `${role}: ${content}`)).toContain(
    "tool: Noted as task 1.",
  );
  expect(turn?.changes?.ledger).toHaveLength(1);
});

it("is answered with no by the next message", async () => {
  const { models, server } = started;
  const { client, newThread, send, transcript } = connect(server.url);
  const thread = await newThread();
  models.enqueue(note("2"), { kind: "text", chunks: ["as you like"] });
  await client.runs.wait(thread, GRAPH, payloadOf("note it", { sessionKey: "k2" }));
  const { reply } = await send(thread, "never mind", { sessionKey: "k2" });
  expect(reply?.envelope.message).toBe("as you like");
  const [asked] = await transcript("k2", thread);
  expect(asked).toMatchObject({
    status: "interrupted",
    explanation: { approvals: [{ decision: "closed" }] },
  });
});
