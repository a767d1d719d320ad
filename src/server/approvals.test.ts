import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { approvalIn, approvalSchema } from "#src/tools/approval.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { eventsIn, httpHarnessStarter, problemIn, type HttpHarness } from "./testing/http-harness.ts";

const startHttp = httpHarnessStarter();

async function start() {
  const ran: string[] = [];
  const write = tool(({ path }) => `wrote ${ran.push(path)}`, {
    name: "write",
    description: "Writes a file",
    schema: z.object({ path: z.string() }),
    metadata: { annotations: { readOnlyHint: false } },
  });
  const model = new ScriptedChatModel((messages) => {
    const last = messages.at(-1);
    if (last?.type !== "human") return { text: `told: ${last?.text ?? ""}` };
    return { toolCalls: [{ id: "a", name: "write", args: '{"path":"a"}' }] };
  });
  const http = await startHttp({ lily: { model, adjust: (deps) => ({ ...deps, tools: [write] }) } });
  return { http, ran };
}

const ask = async (http: HttpHarness) => {
  const problem = await http.problem("/keys/k/messages", { method: "POST", body: { content: "go" } });
  return { problem, id: approvalIn(problem.data)?.id ?? "" };
};
const approve = { decisions: [{ type: "approve" }] };
const waiting = async (http: HttpHarness) => {
  const { approvals } = z
    .object({ approvals: z.array(approvalSchema) })
    .parse(await (await http.request("/keys/k/approvals")).json());
  return approvals;
};

describe("a turn that waits for a person", () => {
  it("is the problem turn_waiting with the question, and goes on with the answer", async () => {
    const { http, ran } = await start();
    const { problem, id } = await ask(http);
    expect(problem).toMatchObject({ code: "turn_waiting", status: 409 });
    expect(problem.reply?.envelope.text).toContain('"path": "a"');
    expect(await waiting(http)).toMatchObject([{ id, tool: "write", args: { path: "a" }, changes: true }]);
    expect(ran).toEqual([]);
    const response = await http.post(`/keys/k/approvals/${id}`, approve);
    expect(turnReplySchema.parse(await response.json()).envelope.message).toBe("told: wrote 1");
    expect(ran).toEqual(["a"]);
    expect(await waiting(http)).toEqual([]);
  });

  it("is answered once, under its own id, by its own owner, and with what can be understood", async () => {
    const { http, ran } = await start();
    const { id } = await ask(http);
    const answered = async (path: string, body: unknown, owner = "local") =>
      (await problemIn(await http.post(path, body, { owner }))).code;
    expect(await answered("/keys/k/approvals/other", approve)).toBe("approval_not_found");
    expect(await answered(`/keys/k/approvals/${id}`, approve, "mallory")).toBe("approval_not_found");
    expect(await answered(`/keys/k/approvals/${id}`, { decisions: [] })).toBe("request_invalid");
    expect(await answered(`/keys/k/approvals/${id}`, { decisions: [{ type: "yes" }] })).toBe(
      "request_invalid",
    );
    expect(ran).toEqual([]);
    expect((await http.post(`/keys/k/approvals/${id}`, approve)).status).toBe(200);
    const again = await problemIn(await http.post(`/keys/k/approvals/${id}`, approve));
    expect(again).toMatchObject({ status: 409, code: "approval_answered" });
    expect(again.detail).toBe("this call of write was approved already");
    expect(ran).toEqual(["a"]);
  });

  it("streams its question as the problem, and the rest of its answer behind the decision", async () => {
    const { http } = await start();
    const headers = { accept: "text/event-stream" };
    const asked = eventsIn(
      await (await http.post("/keys/k/messages", { content: "go" }, { headers })).text(),
    );
    expect(asked.at(-1)).toMatchObject({ event: "error", data: { code: "turn_waiting" } });
    const [approval] = await waiting(http);
    const path = `/keys/k/approvals/${approval?.id ?? ""}`;
    const events = eventsIn(await (await http.post(path, approve, { headers })).text());
    expect([...new Set(events.map(({ event }) => event))]).toEqual(["session", "tool", "token", "reply"]);
  });
});
