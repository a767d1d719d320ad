import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { echoModel } from "#graphs/session/testing/harness.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { turnReplySchema, type TurnReply } from "#src/turns/turn-reply.ts";
import { eventsIn, httpHarnessStarter, problemIn, type HttpHarness } from "./testing/http-harness.ts";

const start = httpHarnessStarter();
const EVENTS = { accept: "text/event-stream" };
const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";

const replyIn = async (response: Response): Promise<TurnReply> => {
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  return turnReplySchema.parse(await response.json());
};

/** Sends a message on the key `k` and gives the reply. */
const say = async (http: HttpHarness, content: unknown, rest: object = {}): Promise<TurnReply> =>
  replyIn(await http.post("/keys/k/messages", { content, ...rest }));

const streamed = async (http: HttpHarness, path: string, body: unknown) => {
  const response = await http.post(path, body, { headers: EVENTS });
  expect(response.status).toBe(200);
  return eventsIn(await response.text());
};

describe("a message", () => {
  it("is answered with the reply of its turn", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const reply = await say(http, "hello", { deliveryId: "d1" });
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, deliveryId: "d1", repeated: false });
    expect(reply.envelope.message).toBe("hello");
    expect((await say(http, [{ type: "text", text: "parts" }])).envelope.message).toBe("parts");
  });

  it("that comes again with the same delivery id is answered once, and told what was stored", async () => {
    const model = echoModel();
    const http = await start({ lily: { model } });
    const first = await say(http, "hello", { deliveryId: "d1" });
    expect(await say(http, "hello", { deliveryId: "d1" })).toEqual({ ...first, repeated: true });
    const byHeader = await http.post(
      "/keys/k/messages",
      { content: "hello" },
      { headers: { "idempotency-key": "d1" } },
    );
    expect(await replyIn(byHeader)).toEqual({ ...first, repeated: true });
    expect(model.calls).toHaveLength(1);
  });

  it("that comes twice at once with the same delivery id is answered by one turn", async () => {
    const model = echoModel();
    const http = await start({ lily: { model } });
    const replies = await Promise.all([1, 2, 3].map(() => say(http, "hello", { deliveryId: "d1" })));
    expect(replies.map(({ repeated }) => repeated).toSorted()).toEqual([false, true, true]);
    expect(new Set(replies.map(({ turn }) => turn))).toEqual(new Set([1]));
    expect(model.calls).toHaveLength(1);
  });

  it("with the id in body and header is refused when they differ, and nothing is stored", async () => {
    const http = await start();
    const send = (key: string) =>
      http.post(
        "/keys/k/messages",
        { content: "x", deliveryId: "d1" },
        { headers: { "idempotency-key": key } },
      );
    expect(await problemIn(await send("d2"))).toMatchObject({ code: "request_invalid", status: 422 });
    expect(await http.stored()).toEqual([]);
    expect((await replyIn(await send("d1"))).deliveryId).toBe("d1");
  });

  it("that fails is answered with the problem of its code, and the reply in it", async () => {
    const model = new ScriptedChatModel([{ error: new Error("the model is out") }]);
    const http = await start({ lily: { model } });
    const problem = await http.problem("/keys/k/messages", { method: "POST", body: { content: "hello" } });
    expect(problem.reply).toMatchObject({ outcome: "failed", turn: null });
    expect(problem.code).toBe(problem.reply?.envelope.code);
    expect(problem.status).toBeGreaterThanOrEqual(500);
    expect(JSON.stringify(problem)).not.toContain(".ts:");
  });

  it("whose failure is about the server tells the log and not whoever asks", async () => {
    const http = await start({
      app: {
        authenticate: async () => {
          throw new Error("ENOENT: /home/secret/store.sqlite");
        },
      },
    });
    const problem = await http.problem("/keys");
    expect(problem).toMatchObject({ code: "internal", status: 500 });
    expect(JSON.stringify(problem)).not.toContain("secret");
    expect(http.reported.join()).toContain("/home/secret/store.sqlite");
  });
});

describe("a message as a stream", () => {
  it("tells of the session, the words as they come and one reply, the same as without a stream", async () => {
    const http = await start({ lily: { model: new ScriptedChatModel(["one two", "one two"]) } });
    const events = await streamed(http, "/keys/k/messages", { content: "count", deliveryId: "d1" });
    expect(events.map(({ event }) => event)).toEqual(["session", "token", "token", "reply"]);
    expect(events.filter(({ event }) => event === "token").map(({ data }) => data["text"])).toEqual([
      "one",
      " two",
    ]);
    const again = await say(http, "count", { deliveryId: "d1" });
    expect(events.at(-1)?.data).toEqual({ ...again, repeated: false });
  });

  it("follows `/new hello` into the new session in one response", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const before = await say(http, "old talk");
    const events = await streamed(http, "/keys/k/messages", { content: "/new hello" });
    const sessions = events.filter(({ event }) => event === "session").map(({ data }) => data["sessionId"]);
    const reply = turnReplySchema.parse(events.at(-1)?.data);
    expect(sessions).toEqual([before.sessionId, reply.sessionId]);
    expect(reply.sessionId).not.toBe(before.sessionId);
    expect(reply).toMatchObject({ turn: 1, envelope: { message: "hello" } });
    expect(events.filter(({ event }) => event === "reply")).toHaveLength(1);
  });

  it("follows a rollover by time and announces it", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const before = await say(http, "good morning");
    http.lily.clock.advance(13 * 3_600_000);
    const events = await streamed(http, "/keys/k/messages", { content: "still there?" });
    const reply = turnReplySchema.parse(events.at(-1)?.data);
    expect(reply.sessionId).not.toBe(before.sessionId);
    expect(reply.announcement).toContain("/rejoin");
    expect(reply.envelope.message).toBe("still there?");
  });

  it("that is refused ends with one error event that is the problem", async () => {
    const http = await start();
    const events = await streamed(http, "/keys/k/messages", { content: " " });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      event: "error",
      data: { code: "message_blank", status: 422, reply: { outcome: "refused" } },
    });
  });

  it("whose client goes away is committed, and the delivery id gives its reply", async () => {
    let answer = (_text: string): void => undefined;
    let ask = (): void => undefined;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    const model = new ScriptedChatModel(() => {
      ask();
      return new Promise<string>((resolve) => (answer = resolve));
    });
    const http = await start({ lily: { model } });
    const response = await http.post(
      "/keys/k/messages",
      { content: "hello", deliveryId: "d1" },
      { headers: EVENTS },
    );
    const reader = response.body?.getReader();
    await asked;
    await reader?.cancel();
    answer("it went on");
    expect(await say(http, "hello", { deliveryId: "d1" })).toMatchObject({
      repeated: true,
      turn: 1,
      envelope: { message: "it went on" },
    });
  });

  it("shows signs of life while the answer takes long", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      let answer = (_text: string): void => undefined;
      const model = new ScriptedChatModel(() => new Promise<string>((resolve) => (answer = resolve)));
      const http = await start({ lily: { model } });
      const response = await http.post("/keys/k/messages", { content: "hello" }, { headers: EVENTS });
      const text = response.text();
      while (model.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      vi.advanceTimersByTime(30_000);
      answer("at last");
      expect((await text).match(/^: waiting$/gmu)).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each<[string, string]>([
    ["application/json", "application/json"],
    ["*/*", "application/json"],
    ["text/event-stream;q=0", "application/json"],
    ["application/json, text/event-stream;q=0.5", "application/json"],
    ["application/json, text/event-stream", "text/event-stream"],
    ["TEXT/Event-Stream", "text/event-stream"],
  ])("is what is given for Accept: %s only where it is wanted", async (accept, type) => {
    const http = await start();
    const response = await http.post("/keys/k/messages", { content: "hi" }, { headers: { accept } });
    expect(response.headers.get("content-type")).toBe(type);
    await response.text();
  });
});

describe("a stop", () => {
  it("ends the answer that is being written, keeps what there is of it, and says so", async () => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const model = new ScriptedChatModel([{ chunks: ["partial", " never"], delayMs: 1 }], {
      // The first word comes at once, the second one when it is stopped.
      sleep: async (_ms, signal) => {
        if (model.calls.length === 1 && isWaiting) await untilAborted(signal);
        isWaiting = true;
        go();
      },
    });
    let isWaiting = false;
    const http = await start({ lily: { model } });
    expect(await (await http.post("/keys/k/stop")).json()).toEqual({ stopped: false });
    const sending = say(http, "talk", { deliveryId: "d1" });
    await gate;
    expect(await (await http.post("/keys/other/stop")).json()).toEqual({ stopped: false });
    expect(await (await http.post("/keys/k/stop", undefined, { owner: "eve" })).json()).toEqual({
      stopped: false,
    });
    expect(await (await http.post("/keys/k/stop")).json()).toEqual({ stopped: true });
    expect(await sending).toMatchObject({ turn: 1, status: "stopped" });
  });
});

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((_resolve, reject) =>
    signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
  );
}

describe("a command by its name", () => {
  it("does what the message does", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const first = await say(http, "one");
    const titled = await replyIn(await http.post("/keys/k/commands/title", { args: "My talk" }));
    expect(titled).toMatchObject({ outcome: "command", envelope: { ok: true } });
    const rotated = await replyIn(
      await http.post("/keys/k/commands/new", { args: "hello", deliveryId: "d9" }),
    );
    expect(rotated).toMatchObject({ outcome: "answered", envelope: { message: "hello" } });
    expect(rotated.sessionId).not.toBe(first.sessionId);
    expect(
      await replyIn(await http.post("/keys/k/commands/new", { args: "hello", deliveryId: "d9" })),
    ).toEqual({ ...rotated, repeated: true });
  });

  it("needs no body, and none of the header that says it is JSON", async () => {
    const http = await start();
    for (const headers of [{}, { "content-type": "application/json" }])
      expect(await replyIn(await http.post("/keys/k/commands/help", undefined, { headers }))).toMatchObject({
        envelope: { code: "help" },
      });
  });

  it.each(["nonsense", "New", "new@other", "new%20x", "constructor", "%2Fnew", "x".repeat(10_000)])(
    "is not found as %.20s, and nothing is stored",
    async (name) => {
      const http = await start();
      const problem = await http.problem(`/keys/k/commands/${name}`, { method: "POST", body: {} });
      expect(problem).toMatchObject({ code: "command_unknown", status: 404 });
      expect(problem.detail.length).toBeLessThan(100);
      expect(await http.stored()).toEqual([]);
    },
  );
});

describe("reading", () => {
  it("lists the keys with their latest session, turns and last activity", async () => {
    const http = await start({ lily: { model: echoModel() } });
    expect(await (await http.request("/keys")).json()).toEqual({
      keys: [],
      damaged: 0,
      total: 0,
      next: null,
    });
    await say(http, "one");
    http.lily.clock.advance(60_000);
    await say(http, "two");
    const { sessionId } = await say(http, "/new three");
    await http.post("/keys/b%2F%3A/messages", { content: "x" });
    expect(await (await http.request("/keys")).json()).toMatchObject({
      keys: [
        { sessionKey: "k", sessionId, sessions: 2, turns: 3, lastActivityAt: "2026-03-01T09:01:00.000Z" },
        { sessionKey: "b/:", sessions: 1, turns: 1 },
      ],
      total: 2,
    });
    expect(await (await http.request("/keys?from=2&limit=1")).json()).toMatchObject({
      keys: [{ sessionKey: "b/:" }],
      next: null,
    });
    expect(await (await http.request("/keys?limit=1")).json()).toMatchObject({ next: 2 });
  });

  it("shows the sessions of a key, and one of them", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const { sessionId: old } = await say(http, "one");
    const { sessionId: latest } = await say(http, "/new two");
    const listed = await (await http.request("/keys/k/sessions")).json();
    expect(listed).toMatchObject({
      sessionKey: "k",
      latest,
      total: 2,
      next: null,
      sessions: [
        { sessionId: old, ordinal: 1, latest: false, previous: null, openedBy: null, sealed: { turns: 1 } },
        { sessionId: latest, ordinal: 2, latest: true, previous: old, openedBy: "command", sealed: null },
      ],
    });
    expect(await (await http.request(`/keys/k/sessions/${old.toUpperCase()}`)).json()).toMatchObject({
      sessionKey: "k",
      session: { sessionId: old },
      turns: 1,
      lineage: [old],
    });
    expect(await (await http.request(`/keys/k/sessions/${latest}`)).json()).toMatchObject({ turns: 1 });
  });

  it("gives the history of a session page by page", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const texts = ["one", "two", "three"];
    let sessionId = "";
    for (const text of texts) ({ sessionId } = await say(http, text, { deliveryId: text }));
    const read = async (query: string) =>
      (await (await http.request(`/keys/k/sessions/${sessionId}/history${query}`)).json()) as {
        turns: { turn: number; messages: { content: string }[] }[];
        next: number | null;
      };
    const whole = await read("");
    expect(whole).toMatchObject({ total: 3, next: null, sessionId });
    expect(whole.turns.map(({ messages }) => messages.map(({ content }) => content))).toEqual(
      texts.map((text) => [text, text]),
    );
    expect(whole.turns[0]).toMatchObject({ turn: 1, kind: "chat", status: "completed", deliveryId: "one" });
    expect(whole.turns[0]).not.toHaveProperty("salt");
    const page = await read("?limit=2");
    expect([page.turns.map(({ turn }) => turn), page.next]).toEqual([[1, 2], 3]);
    expect((await read("?from=3")).turns.map(({ turn }) => turn)).toEqual([3]);
    expect((await read("?from=2&to=2")).turns.map(({ turn }) => turn)).toEqual([2]);
    expect((await read("?from=4")).turns).toEqual([]);
  });

  it("tells of a turn that was erased that it was, and when", async () => {
    const http = await start({ lily: { model: echoModel() } });
    let sessionId = "";
    for (const text of ["one", "two"]) ({ sessionId } = await say(http, text));
    const { repository } = http.lily.sessions;
    const at = "2026-03-02T09:00:00.000Z";
    const chain = await http.lily.chain("k");
    await repository.redactTurns(chain, [{ sessionId, turn: 2 }], at);
    const history = await (await http.request(`/keys/k/sessions/${sessionId}/history`)).json();
    expect(history).toMatchObject({ total: 2, turns: [{ turn: 1 }], erased: [{ turn: 2, erasedAt: at }] });
    expect(await (await http.request("/keys/k/verify")).json()).toMatchObject({
      ok: true,
      turns: 2,
      erased: { turns: 1 },
    });
    const { keys } = (await (await http.request("/keys")).json()) as { keys: { lastActivityAt: string }[] };
    expect(keys[0]?.lastActivityAt).toBe("2026-03-01T09:00:00.000Z");
  });

  it("gives the status, and of a key that was never used neither that nor a session of it", async () => {
    const http = await start({ lily: { model: echoModel() } });
    expect((await http.problem("/keys/unused/status")).code).toBe("session_not_found");
    const asked = await replyIn(await http.post("/keys/unused/commands/status"));
    expect(asked).toMatchObject({ sessionId: "", envelope: { code: "status" } });
    expect(await http.stored()).toEqual([]);
    const { sessionId } = await say(http, "one");
    const reply = await replyIn(await http.request("/keys/k/status"));
    expect(reply).toMatchObject({ sessionId, envelope: { code: "status", data: { turns: 1 } } });
  });

  it("never rotates a session that is due", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const { sessionId } = await say(http, "one");
    http.lily.clock.advance(48 * 3_600_000);
    for (const path of [
      "/keys",
      "/keys/k/sessions",
      "/keys/k/status",
      `/keys/k/sessions/${sessionId}/history`,
    ])
      expect((await http.request(path)).status).toBe(200);
    expect((await http.lily.chain("k")).latest).toBe(sessionId);
  });

  it("verifies a key, and tells which turn is not what was committed", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const { sessionId } = await say(http, "one");
    expect(await (await http.request("/keys/k/verify")).json()).toEqual({
      ok: true,
      sessions: 1,
      turns: 1,
      erased: { turns: 0, titles: 0 },
    });
    const ref = { owner: "local", sessionKey: "k", sessionId };
    const { repository } = http.lily.sessions;
    const record = await repository.readTurn(ref, 1);
    if (record === undefined) throw new Error("no turn");
    await repository.writeTurn(ref, { ...record, at: "2020-01-01T00:00:00.000Z" });
    const problem = await http.problem("/keys/k/verify");
    expect(problem).toMatchObject({
      code: "verify_failed",
      status: 409,
      data: { problems: [{ sessionId, turn: 1 }] },
    });
  });
});

describe("a key in the path", () => {
  it.each([
    "a/b",
    "a:b",
    "a/../b",
    "..%2e",
    "%2e%2e",
    "100%",
    "?x=1#y",
    "Team-A",
    "日本語 👩‍👩‍👧",
    "a\\b",
    "é",
    "e\u0301",
    "=2E",
  ])("is %j, exactly", async (key) => {
    const http = await start({ lily: { model: echoModel() } });
    const path = `/keys/${encodeURIComponent(key)}`;
    const sent = await replyIn(await http.post(`${path}/messages`, { content: "hi" }));
    const { keys } = (await (await http.request("/keys")).json()) as { keys: { sessionKey: string }[] };
    expect(keys.map(({ sessionKey }) => sessionKey)).toEqual([key]);
    const listed = (await (await http.request(`${path}/sessions`)).json()) as { latest: string };
    expect(listed.latest).toBe(sent.sessionId);
  });
});

describe("any key", () => {
  it("is what was encoded, whatever it is, and malformed ones are refused", async () => {
    const http = await start();
    const text = fc.string({ unit: "binary", minLength: 1 }).filter((key) => key.isWellFormed());
    const property = fc.asyncProperty(text, async (key) => {
      fc.pre(key !== "." && key !== "..");
      const problem = await http.problem(`/keys/k/commands/${encodeURIComponent(key)}x`, { method: "POST" });
      expect(problem.code).toBe("command_unknown");
      expect(problem.detail).toContain(key.slice(0, 20).toWellFormed().split("\ufffd")[0] ?? "");
    });
    await fc.assert(property, { numRuns: 50 });
    for (const part of ["%zz", "%", "%4", "%E0%41", "%C0%AF", "%ff", "a%ED%A0%80"])
      expect((await http.problem(`/keys/${part}/status`)).code).toBe("request_invalid");
  });
});

describe("what needs no login", () => {
  it("says that the process answers, and touches nothing", async () => {
    const http = await start();
    const response = await http.request("/health", { owner: null });
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
    expect(await http.stored()).toEqual([]);
    expect((await http.request("/health", { owner: null, method: "HEAD" })).status).toBe(200);
  });

  it("says whether the storage answers, and of a failure not more than its kind", async () => {
    const http = await start();
    expect((await http.request("/ready", { owner: null })).status).toBe(200);
    expect(await http.stored()).toEqual([]);
    const { repository } = http.lily.sessions;
    const readChain = async () => {
      throw new Error("cannot open /home/secret/store.sqlite");
    };
    const broken = await start({
      app: { sessions: { ...http.lily.sessions, repository: { ...repository, readChain } } },
    });
    const problem = await broken.problem("/ready", { owner: null });
    expect(problem).toMatchObject({ code: "storage_failed", status: 500 });
    expect(JSON.stringify(problem)).not.toContain("secret");
    expect(broken.reported.join()).toContain("secret");
  });

  it("is all that is answered without a login", async () => {
    const http = await start();
    for (const [method, path] of [
      ["GET", "/keys"],
      ["POST", "/keys/k/messages"],
      ["POST", "/keys/k/stop"],
      ["POST", "/keys/k/commands/new"],
      ["GET", "/keys/k/sessions"],
      ["GET", `/keys/k/sessions/${UNKNOWN_ID}`],
      ["GET", `/keys/k/sessions/${UNKNOWN_ID}/history`],
      ["GET", "/keys/k/status"],
      ["GET", "/keys/k/verify"],
    ] as const) {
      const response = await http.request(path, { method, owner: null });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await problemIn(response)).toMatchObject({ code: "unauthenticated", status: 401 });
    }
    expect(await http.stored()).toEqual([]);
  });
});

describe("a server that ends", () => {
  it("turns away everything but the question whether it lives", async () => {
    const http = await start({ app: { isDraining: () => true } });
    for (const [method, path] of [
      ["POST", "/keys/k/messages"],
      ["POST", "/keys/k/stop"],
      ["GET", "/keys"],
      ["GET", "/ready"],
    ] as const) {
      const response = await http.request(path, { method });
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(response.headers.get("connection")).toBe("close");
      expect(await problemIn(response)).toMatchObject({ code: "draining", status: 503 });
    }
    expect((await http.request("/health")).status).toBe(200);
  });
});
