import { tool } from "@langchain/core/tools";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { echoModel } from "#graphs/session/testing/harness.ts";
import { COMMANDS } from "#src/commands/registry.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { approvalIn } from "#src/tools/approval.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import type { HttpLimits } from "./http-app.ts";
import { httpHarnessStarter, problemIn, type TestRequest } from "./testing/http-harness.ts";

const start = httpHarnessStarter();
const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";
const MESSAGES = "/keys/k/messages";

/** A request that is refused: what, path, request, code. */
type Row = [what: string, path: string, request: TestRequest, code: string, status: number];

const post = (body: unknown): TestRequest => ({ method: "POST", body });
const LONG = "a".repeat(10_000);

const BAD: readonly Row[] = [
  ["no content", MESSAGES, post({}), "request_invalid", 422],
  ["blank content", MESSAGES, post({ content: " \n" }), "message_blank", 422],
  ["no parts", MESSAGES, post({ content: [] }), "message_blank", 422],
  ["content that is null", MESSAGES, post({ content: null }), "message_invalid", 422],
  ["content that is a number", MESSAGES, post({ content: 5 }), "message_invalid", 422],
  ["a picture", MESSAGES, post({ content: [{ type: "image_url" }] }), "message_invalid", 422],
  ["a message that is too long", MESSAGES, post({ content: "x".repeat(32_001) }), "message_too_large", 413],
  ["a body that is a list", MESSAGES, post([]), "request_invalid", 422],
  ["a body that is null", MESSAGES, post(null), "request_invalid", 422],
  ["a body that is text", MESSAGES, post("hi"), "request_invalid", 422],
  ["a field that is not known", MESSAGES, post({ content: "x", owner: "eve" }), "request_invalid", 422],
  ["a delivery id that is a number", MESSAGES, post({ content: "x", deliveryId: 1 }), "request_invalid", 422],
  ["a blank delivery id", MESSAGES, post({ content: "x", deliveryId: " " }), "delivery_id_invalid", 422],
  ["a long delivery id", MESSAGES, post({ content: "x", deliveryId: LONG }), "delivery_id_invalid", 422],
  [
    "a delivery id with NUL",
    MESSAGES,
    post({ content: "x", deliveryId: "a\u0000" }),
    "delivery_id_invalid",
    422,
  ],
  [
    "an empty header",
    MESSAGES,
    { ...post({ content: "x" }), headers: { "idempotency-key": "" } },
    "delivery_id_invalid",
    422,
  ],
  [
    "a header that is not ASCII",
    MESSAGES,
    { ...post({ content: "x" }), headers: { "idempotency-key": "é" } },
    "request_invalid",
    422,
  ],
  ["an unknown command as a message", MESSAGES, post({ content: "/nonsense" }), "command_unknown", 404],
  ["wrong arguments of a command", "/keys/k/commands/history", post({ args: "many" }), "command_usage", 422],
  ["arguments that are a list", "/keys/k/commands/new", post({ args: ["x"] }), "request_invalid", 422],
  ["a key with NUL", "/keys/a%00b/messages", post({ content: "x" }), "session_key_invalid", 422],
  ["a blank key", "/keys/%20/messages", post({ content: "x" }), "session_key_invalid", 422],
  [
    "a key of 10,000 characters",
    `/keys/${LONG}/messages`,
    post({ content: "x" }),
    "session_key_invalid",
    422,
  ],
  ["a key with control characters", "/keys/a%0Ab/status", {}, "session_key_invalid", 422],
  ["a key that is half encoded", "/keys/%zz/status", {}, "request_invalid", 422],
  ["a key in another encoding", "/keys/caf%E9/status", {}, "request_invalid", 422],
  ["a key that is an overlong slash", "/keys/a%C0%AFb/status", {}, "request_invalid", 422],
  ["no key", "/keys//messages", post({ content: "x" }), "route_not_found", 404],
  [
    "a key of dots, which the URL takes away",
    "/keys/%2e%2e/messages",
    post({ content: "x" }),
    "route_not_found",
    404,
  ],
  ["a key that was never used", "/keys/k/sessions", {}, "session_not_found", 404],
  ["verification of a key that was never used", "/keys/k/verify", {}, "session_not_found", 404],
  ["a session that does not exist", `/keys/k/sessions/${UNKNOWN_ID}`, {}, "session_not_found", 404],
  ["a session id that is none", "/keys/k/sessions/1", {}, "session_id_invalid", 422],
  ["a session id that is a path", "/keys/k/sessions/..%2F..%2Fetc%2Fpasswd", {}, "session_id_invalid", 422],
  ["a session id with NUL", `/keys/k/sessions/${UNKNOWN_ID}%00`, {}, "session_id_invalid", 422],
  ["a session id of 10,000 characters", `/keys/k/sessions/${LONG}/history`, {}, "session_id_invalid", 422],
  ["a page that begins at 0", "/keys?from=0", {}, "request_invalid", 422],
  ["a limit that is a word", "/keys/k/sessions?limit=all", {}, "request_invalid", 422],
  ["a query that is not known", `/keys/k/sessions/${UNKNOWN_ID}/history?form=1`, {}, "request_invalid", 422],
  ["a path that is none", "/nothing/here", {}, "route_not_found", 404],
  ["the prefix alone", "", {}, "route_not_found", 404],
  ["another method", MESSAGES, {}, "route_not_found", 404],
  ["DELETE", "/keys/k", { method: "DELETE" }, "route_not_found", 404],
  ["a slash too many", "/keys/", {}, "route_not_found", 404],
];

describe("what cannot be asked", () => {
  it("is answered with the problem of its code, never with 500, and nothing is stored", async () => {
    const http = await start();
    for (const [what, path, request, code, status] of BAD) {
      const problem = await http.problem(path, request);
      expect({ what, code: problem.code, status: problem.status }).toEqual({ what, code, status });
      expect(problem).toMatchObject({ type: `urn:lily:problem:${code}`, title: code.replaceAll("_", " ") });
      expect(problem.detail.length).toBeLessThan(300);
      expect(JSON.stringify(problem)).not.toMatch(/node_modules|\.ts:\d/u);
    }
    expect(await http.stored()).toEqual([]);
    expect(http.reported).toEqual([]);
  });

  it.each<[string, string | Uint8Array, string | undefined, string]>([
    ["broken JSON", "{", "application/json", "not JSON"],
    ["bytes that are not UTF-8", Uint8Array.of(0x22, 0xe9, 0x22), "application/json", "not JSON in UTF-8"],
    ["a form", "content=x", "application/x-www-form-urlencoded", "not application/json"],
    [
      "plain text, which a web page may send anywhere",
      '{"content":"x"}',
      "text/plain",
      "not application/json",
    ],
    ["no stated type", Uint8Array.of(0x7b, 0x7d), undefined, "not application/json"],
  ])("is a body of %s", async (_what, body, type, told) => {
    const http = await start();
    const response = await http.app.request("/lily/v1/keys/k/messages", {
      method: "POST",
      headers: { "x-test-owner": "local", ...(type === undefined ? {} : { "content-type": type }) },
      body,
    });
    const problem = await problemIn(response);
    expect(problem).toMatchObject({ code: "request_invalid", status: 422 });
    expect(problem.detail).toContain(told);
    expect(await http.stored()).toEqual([]);
  });

  it.each(["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.lily+json"])(
    "is not a body of %s",
    async (type) => {
      const http = await start();
      const response = await http.post(
        "/keys/k/messages",
        { content: "x" },
        { headers: { "content-type": type } },
      );
      expect(response.status).toBe(200);
    },
  );

  it("cannot change the prototype of anything", async () => {
    const http = await start();
    const response = await http.app.request("/lily/v1/keys/k/messages", {
      method: "POST",
      headers: { "x-test-owner": "local", "content-type": "application/json" },
      body: '{"content":"x","__proto__":{"polluted":true}}',
    });
    await response.text();
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("two owners", () => {
  it("with the same key have different conversations, of which neither reads the other's", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const send = async (owner: string, content: string) =>
      turnReplySchema.parse(
        await (await http.post(MESSAGES, { content, deliveryId: "d1" }, { owner })).json(),
      );
    const agnes = await send("agnes", "the secret of agnes");
    const bob = await send("bob", "the word of bob");
    expect(bob).toMatchObject({ repeated: false, turn: 1, envelope: { message: "the word of bob" } });
    expect(bob.sessionId).not.toBe(agnes.sessionId);
    for (const path of [
      "/keys",
      "/keys/k/sessions",
      "/keys/k/status",
      "/keys/k/verify",
      `/keys/k/sessions/${bob.sessionId}/history`,
    ]) {
      const text = await (await http.request(path, { owner: "bob" })).text();
      expect(text).not.toContain("agnes");
      expect(text).not.toContain(agnes.sessionId);
    }
  });

  it("cannot tell each other's sessions from sessions that do not exist, under any key", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const sent = await http.post("/keys/private/messages", { content: "secret" }, { owner: "ann" });
    const { sessionId } = turnReplySchema.parse(await sent.json());
    await http.post(MESSAGES, { content: "x" }, { owner: "bob" });
    for (const key of ["k", "private", "unused"]) {
      for (const rest of ["", "/history"]) {
        const ask = async (id: string) => {
          const response = await http.request(`/keys/${key}/sessions/${id}${rest}`, { owner: "bob" });
          return { status: response.status, text: (await response.text()).replaceAll(id, "ID") };
        };
        expect(await ask(sessionId)).toEqual(await ask(UNKNOWN_ID));
        expect((await ask(sessionId)).status).toBe(404);
      }
    }
    for (const path of ["/keys/private/sessions", "/keys/private/verify"])
      expect((await http.problem(path, { owner: "bob" })).code).toBe("session_not_found");
    const resumed = await http.post("/keys/k/commands/resume", { args: sessionId }, { owner: "bob" });
    expect((await problemIn(resumed)).code).toBe("session_not_found");
  });

  it("are strangers on every path of the OpenAPI document, with every command, whatever ids they put in", async () => {
    const secret = "Quimbleton";
    const ran: string[] = [];
    const write = tool(() => String(ran.push("write")), {
      name: "write",
      description: "Writes",
      schema: z.object({ path: z.string() }),
      metadata: { annotations: { readOnlyHint: false } },
    });
    // Tells whether it was given the secret.
    const model = new ScriptedChatModel((messages) => {
      const last = messages.at(-1)?.text ?? "";
      if (last === "fail") return { error: new Error("down") };
      if (last.startsWith("write"))
        return { toolCalls: [{ id: "a", name: "write", args: JSON.stringify({ path: last }) }] };
      return messages.some(({ text }) => text.includes(secret)) ? secret : "that is not known";
    });
    const http = await start({ lily: { model, adjust: (deps) => ({ ...deps, tools: [write] }) } });
    const ann = { owner: "ann" };
    const say = (key: string, content: string) => http.post(`/keys/${key}/messages`, { content }, ann);
    const { sessionId } = turnReplySchema.parse(
      await (await say("private", `the gate opens to ${secret}`)).json(),
    );
    await say("private", "fail");
    await say("private", `/remember the gate opens to ${secret}`);
    await say("private", `/new the gate is red, says ${secret}`);
    const id = approvalIn((await problemIn(await say("waits", `write ${secret}`))).data)?.id ?? "";
    expect(id).not.toBe("");
    const document = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string() }))) })
      .parse(await (await http.request("/openapi.json")).json());
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
    );
    /** Those that change something; a new one has to be put here. */
    const bodies: Readonly<Record<string, readonly unknown[]>> = {
      sendMessage: [{ content: "to what does the gate open?", deliveryId: "d1" }],
      runCommand: [{}, { args: sessionId }, { args: "gate" }],
      answerApproval: [{ decisions: [{ type: "approve" }] }],
      stopAnswer: [undefined],
    };
    const seenBy = async () =>
      Promise.all(
        [
          "/keys",
          "/keys/waits/approvals",
          "/keys/private/sessions",
          "/keys/private/verify",
          `/keys/private/sessions/${sessionId}/history`,
        ].map(async (path) => (await http.request(path, ann)).text()),
      );
    const before = await seenBy();
    expect(before.join()).toContain(secret);

    // In the second round there are conversations of bob's under the same keys.
    for (const key of ["private", "waits", "private"])
      for (const { path, method, operationId } of operations) {
        const values = path.includes("{name}")
          ? COMMANDS.map(({ name }) => name)
          : path.includes("{turn}")
            ? ["1", "last", "failed-1"]
            : [""];
        if (method !== "get") expect(Object.keys(bodies)).toContain(operationId);
        // Nothing of ann's under the key that waits is reached by words.
        const sent = bodies[operationId]?.slice(0, key === "waits" ? 1 : undefined);
        for (const body of method === "get" ? [undefined] : (sent ?? []))
          for (const value of values) {
            const filled = path
              .slice("/lily/v1".length)
              .replace("{key}", key)
              .replace("{sessionId}", sessionId)
              .replace("{id}", id)
              .replace(/\{(?:name|turn)\}/u, value);
            expect(filled).not.toContain("{");
            const request = { method: method.toUpperCase(), body };
            const response = await http.request(filled, { ...request, owner: "bob" });
            const text = await response.text();
            const gives = text.includes(secret) || text.includes('"ann"');
            expect({ filled, gives }).toEqual({ filled, gives: false });
            if (/\{(?:sessionId|id)\}/u.test(path)) expect([filled, response.status]).toEqual([filled, 404]);
            // Without a login there is nothing but what is for everybody.
            if (path.includes("/keys"))
              expect((await http.request(filled, { ...request, owner: null })).status).toBe(401);
          }
      }
    expect(await seenBy()).toEqual(before);
    expect(ran).toEqual([]);
  });

  it("finds no session of another key of the same owner", async () => {
    const http = await start();
    const sent = await http.post("/keys/one/messages", { content: "x" });
    const { sessionId } = turnReplySchema.parse(await sent.json());
    await http.post("/keys/two/messages", { content: "x" });
    expect((await http.problem(`/keys/two/sessions/${sessionId}`)).code).toBe("session_not_found");
  });
});

describe("limits", () => {
  const limited = (limits: Partial<HttpLimits>) => start({ limits });

  it("refuse a body that says that it is too long, before it is read", async () => {
    const http = await limited({ bodyBytes: 20 });
    const fits = { content: "12345678" };
    expect(JSON.stringify(fits)).toHaveLength(22);
    const request: TestRequest = { method: "POST", body: fits, headers: { "content-length": "22" } };
    expect(await http.problem(MESSAGES, request)).toMatchObject({ code: "request_too_large", status: 413 });
    expect(await http.stored()).toEqual([]);
  });

  it("refuse a body that does not say so, and stop reading it", async () => {
    const http = await limited({ bodyBytes: 1000 });
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(100));
      },
    });
    const response = await http.app.request("/lily/v1/keys/k/messages", {
      method: "POST",
      headers: { "x-test-owner": "local", "content-type": "application/json" },
      body,
      duplex: "half",
    });
    expect((await problemIn(response)).code).toBe("request_too_large");
    expect(pulled).toBeLessThan(20);
  });

  it("take a body at the limit", async () => {
    const http = await limited({ bodyBytes: JSON.stringify({ content: "hi" }).length });
    expect((await http.post(MESSAGES, { content: "hi" })).status).toBe(200);
  });

  it("refuse a login's requests beyond the rate with the time to wait, and no other login's (S-13)", async () => {
    const http = await limited({ requestsPerMinute: 2 });
    const as = (login: string): TestRequest => ({ headers: { "x-test-login": login } });
    expect((await http.request("/keys", as("key-1"))).status).toBe(200);
    expect((await http.request("/keys", as("key-1"))).status).toBe(200);
    const refused = await http.request("/keys", as("key-1"));
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(await problemIn(refused)).toMatchObject({ code: "rate_limited", status: 429 });
    // Another key of the same owner has a minute of its own.
    expect((await http.request("/keys", as("key-2"))).status).toBe(200);
    expect((await http.request("/health")).status).toBe(200);
    // Whoever asks too often can still stop what was begun.
    expect((await http.post("/keys/k/stop", undefined, as("key-1"))).status).toBe(200);
  });

  it("refuse a turn when a login has too many with a time to wait, and free the place of each that ended", async () => {
    let answer = (_text: string): void => undefined;
    const model = new ScriptedChatModel(() => new Promise<string>((resolve) => (answer = resolve)));
    const one = await start({ limits: { turnsAtOnce: 1 }, lily: { model } });
    const running = one.post(MESSAGES, { content: "x" });
    await vi.waitFor(() => expect(model.calls).toHaveLength(1));
    const refused = await one.post("/keys/other/messages", { content: "x" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await problemIn(refused)).toMatchObject({ code: "rate_limited", status: 429 });
    answer("done");
    expect((await running).status).toBe(200);
    for (const accept of ["application/json", "text/event-stream"]) {
      const response = await one.post(MESSAGES, { content: "/help" }, { headers: { accept } });
      expect(response.status).toBe(200);
      await response.text();
    }
    expect((await one.problem(MESSAGES, post({ content: "" }))).code).toBe("message_blank");
    expect((await one.post(MESSAGES, { content: "/help" })).status).toBe(200);
  });
});

describe("a web page", () => {
  const origin = "https://chat.example";

  it("of a listed origin may send and read, refusals too", async () => {
    const http = await start({ app: { corsOrigins: [origin] } });
    const preflight = await http.request("/keys/k/messages", {
      method: "OPTIONS",
      owner: null,
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("idempotency-key");
    const sent = await http.post(MESSAGES, { content: "hello" }, { headers: { origin } });
    expect([sent.status, sent.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    const refused = await http.request("/keys", { owner: null, headers: { origin } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, origin]);
  });

  it("of any other origin reads nothing", async () => {
    for (const corsOrigins of [[], [origin]]) {
      const http = await start({ app: { corsOrigins } });
      const response = await http.request("/keys", { headers: { origin: "https://evil.example" } });
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});
