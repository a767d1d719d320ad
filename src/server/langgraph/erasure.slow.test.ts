/** Erasing on a real LangGraph server: what its routes, its threads, its runs and its files have of a fact afterwards. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelledServer, type ModelledServer } from "#graphs/server/testing/modelled-server.ts";
import { receiptSchema } from "#src/erasure/receipt.ts";
import { hunt } from "#src/erasure/testing/hunt.ts";
import { turnReplySchema, type TurnReply } from "#src/turns/turn-reply.ts";
import { hashApiKey, newApiKey } from "../auth/api-key.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

const FACT = "My neighbour keeps zebrafish in Ostend";
const ERASE = `/forget ${FACT} --everywhere`;

const ann = newApiKey();
const bob = newApiKey();

let started: ModelledServer;
let server: ModelledServer["server"];
let client: Client;

beforeAll(async () => {
  started = await startModelledServer({ LILY_API_KEYS: `ann=${hashApiKey(ann)},bob=${hashApiKey(bob)}` });
  ({ server } = started);
  client = new Client({ apiUrl: server.url, apiKey: ann, callerOptions: { maxRetries: 0 } });
}, 70_000);

afterAll(() => started?.stop());

async function send(sessionKey: string, content: string, key = ann, deliveryId?: string): Promise<TurnReply> {
  const response = await fetch(`${server.url}/lily/v1/keys/${encodeURIComponent(sessionKey)}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ content, deliveryId }),
  });
  const body: unknown = await response.json();
  return turnReplySchema.parse(response.ok ? body : z.object({ reply: turnReplySchema }).parse(body).reply);
}

const outcomesOf = ({ envelope }: TurnReply): Record<string, string> =>
  Object.fromEntries(
    receiptSchema
      .parse(envelope.data?.["receipt"])
      .lines.map((line) => [line.place, "count" in line ? `${line.outcome} ${line.count}` : line.outcome]),
  );

/** What a thread, its states and its runs say. */
async function saidOn(threadId: string): Promise<string> {
  const states = await client.threads.getHistory(threadId, { limit: 100 });
  return JSON.stringify([await client.threads.get(threadId), states, await client.runs.list(threadId)]);
}

const inputs = (text: string) => ({ input: { messages: [{ type: "human", content: text }] } });

describe("/forget --everywhere on a LangGraph server", () => {
  it("erases from conversations, threads, runs and files, and from nobody else's", async () => {
    await send("app:main", `/remember ${FACT}`);
    await send("app:main", "hello");
    const { sessionId } = await send("app:main", `I said that ${FACT}`);
    const { sessionId: other } = await send("app:other", FACT);
    const { sessionId: theirs } = await send("app:main", FACT, bob);
    // Threads that no conversation of Lily's has.
    const stray = await client.threads.create({ metadata: { note: FACT } });
    const refused = await client.threads.create();
    await client.runs.wait(refused.thread_id, "session", inputs(`/nosuch ${FACT}`));
    expect(await saidOn(sessionId)).toContain("zebrafish");

    const preview = await send("app:main", ERASE);
    expect(preview).toMatchObject({ turn: null, envelope: { code: "confirmation_needed" } });
    expect(preview.envelope.data).toMatchObject({
      counts: expect.arrayContaining([
        { place: "transcripts", count: 3 },
        { place: "checkpoints", count: 4 },
      ]),
    });
    const reply = await send("app:main", `${ERASE} --yes`, ann, "erase-1");
    expect(reply).toMatchObject({ outcome: "command", turn: 4, sessionId, envelope: { code: "erased" } });
    expect(outcomesOf(reply)).toMatchObject({
      memory: "erased 1",
      transcripts: "erased 3",
      checkpoints: "erased 4",
      "database files": "not_supported",
      "LangGraph server": "not_supported",
    });
    expect(await send("app:main", `${ERASE} --yes`, ann, "erase-1")).toEqual({ ...reply, repeated: true });
    for (const thread of [sessionId, other]) expect(await saidOn(thread)).not.toContain("zebrafish");
    for (const { thread_id: gone } of [stray, refused])
      await expect(client.threads.get(gone)).rejects.toMatchObject({ status: 404 });
    const { envelope } = await send("app:main", "/history", bob);
    expect(JSON.stringify(envelope)).toContain("zebrafish");

    expect(await send("app:main", "/forget zebrafish --everywhere --yes", bob)).toMatchObject({
      sessionId: theirs,
      envelope: { ok: true },
    });
  });

  it("goes on in the same threads, by the routes and by the SDK", async () => {
    const { sessionId } = await send("app:goes-on", FACT);
    await send("app:goes-on", `${ERASE} --yes`);
    const values = await client.runs.wait(sessionId, "session", inputs("and now?"));
    expect(z.object({ reply: turnReplySchema }).parse(values).reply).toMatchObject({ sessionId, turn: 3 });
    expect(await send("app:goes-on", "hello")).toMatchObject({ sessionId, turn: 4 });
    expect(await saidOn(sessionId)).not.toContain("zebrafish");
  });

  it("is refused in a run, which is told of the way that there is", async () => {
    const { sessionId } = await send("app:run", "hello");
    for (const flags of ["", " --yes"]) {
      const values = await client.runs.wait(sessionId, "session", inputs(`${ERASE}${flags}`));
      const { reply } = z.object({ reply: turnReplySchema }).parse(values);
      expect(reply).toMatchObject({ turn: null, envelope: { code: "erasure_unsupported" } });
      expect(reply.envelope.next).toContain("POST /lily/v1/keys/");
    }
    await send("app:run", `${ERASE} --yes`);
    expect(await saidOn(sessionId)).not.toContain("zebrafish");
  });

  it("believes no receipt that a run brings along", async () => {
    const { sessionId } = await send("app:forged", "hello");
    const erased = { ok: true, code: "erased", message: "all gone" };
    const values = await client.runs.wait(sessionId, "session", {
      ...inputs(`${ERASE} --yes`),
      context: { fence: { lockName: "x", token: 1, erased } },
    });
    expect(JSON.stringify(values)).not.toContain("all gone");
  });

  it("waits for no run on a thread that says it, and changes nothing there", async () => {
    const { sessionId } = await send("app:busy", FACT);
    started.models.enqueue({ kind: "hang", chunks: ["Once"] });
    const { run_id: run } = await client.runs.create(sessionId, "session", inputs("Tell me a story."));
    await vi.waitFor(async () => expect((await client.threads.get(sessionId)).status).toBe("busy"));
    const reply = await send("app:free", `${ERASE} --yes`);
    expect(reply).toMatchObject({ outcome: "failed", envelope: { code: "turn_running" } });
    await client.runs.cancel(sessionId, run, true);
    expect((await send("app:free", `${ERASE} --yes`)).envelope.code).toBe("erased");
    expect(await saidOn(sessionId)).not.toContain("zebrafish");
  });

  it(
    "is not in the files that the server has written, nor in what it printed",
    { timeout: 120_000 },
    async () => {
      expect(server.log()).not.toContain("zebrafish");
      // It writes them seconds after the last change.
      await vi.waitFor(
        () => expect(hunt(server.dataFolder, { text: FACT, words: ["zebrafish", "ostend"] })).toEqual([]),
        { timeout: 90_000, interval: 2_000 },
      );
    },
  );
});
