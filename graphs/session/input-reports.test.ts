import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { openChain } from "#src/sessions/chain.ts";
import { composeSessionKey } from "#src/sessions/session-key.ts";
import { echoModel, inputOf, OWNER } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

describe("field reports of session keys and ids", () => {
  it("RK-01 keeps keys that differ in case apart", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const a = await lily.send("from Kite", { sessionKey: "!Kite:srv" });
    const b = await lily.send("from kite", { sessionKey: "!kite:srv" });
    expect(a.sessionId).not.toBe(b.sessionId);
    expect(inputOf(model)).toEqual(["human: from kite"]);
  });

  it("RK-02 keeps three turns of a key with capitals in one session, listed as given", async () => {
    const lily = await start({ model: echoModel() });
    const places: [string, number | null][] = [];
    for (const text of ["one", "two", "three"]) {
      const { sessionId, turn } = await lily.send(text, { sessionKey: "Team-A" });
      places.push([sessionId, turn]);
    }
    expect(places).toEqual([1, 2, 3].map((turn) => [places[0]?.[0], turn]));
    expect((await lily.sessions.repository.listChains(OWNER)).map((chain) => chain.sessionKey)).toEqual([
      "Team-A",
    ]);
  });

  it("RK-03 composes different keys from parts that hold the separator", async () => {
    const lily = await start({ model: echoModel() });
    const first = composeSessionKey(["a:b", "c"]);
    const second = composeSessionKey(["a", "b:c"]);
    const third = composeSessionKey(["a\\", "b", "c"]);
    const ids = [];
    for (const sessionKey of [first, second, third])
      ids.push((await lily.send("hi", { sessionKey })).sessionId);
    expect(new Set(ids).size).toBe(3);
  });

  it.each([
    ["slashes and signs", "Qm4/7k/Tz+Rx="],
    ["path-like text", "../../../tmp/pwn"],
    ["store separators and wildcards", "a.b:c%_|d"],
    ["percent escapes", "%2e%2e%2f"],
    ["100 CJK characters", "漢".repeat(100)],
    ["emoji and right-to-left text", "👩‍👩‍👧 שלום"],
    ["a quote", 'it\'s "me"; DROP TABLE items'],
    ["a reserved word", "langgraph"],
    ["__proto__", "__proto__"],
  ])("RK-05 SE-02 goes on after a restart under a key with %s", async (_what, sessionKey) => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("one", { sessionKey });
    await lily.restart();
    expect(await lily.send("two", { sessionKey })).toMatchObject({ sessionId: first.sessionId, turn: 2 });
  });

  it.each(["s1 ", " s1"])(
    "a key %j of an earlier version goes on; a new one is refused (F-9)",
    async (sessionKey) => {
      const lily = await start({ model: echoModel() });
      const refused = { turn: null, envelope: { code: "session_key_invalid" } };
      expect(await lily.send("hi", { sessionKey })).toMatchObject(refused);
      expect(await lily.send("hi", { sessionKey: "s1", owner: "anna " })).toMatchObject(refused);
      await lily.sessions.repository.writeChain({
        ...openChain({
          owner: OWNER,
          sessionKey: "s1",
          sessionId: randomUUID(),
          at: "2026-01-01T00:00:00.000Z",
          deliveryId: "",
          textHash: "",
        }),
        sessionKey,
      });
      expect(await lily.send("/history", { sessionKey })).toMatchObject({ envelope: { ok: true } });
      expect(await lily.send("hi", { sessionKey })).toMatchObject({ turn: 1 });
    },
  );

  it("SE-03 keeps keys apart that are prefixes, wildcards or Unicode forms of each other", async () => {
    const lily = await start({ model: echoModel() });
    const keys = [
      "user1",
      "user10",
      "user_",
      "user%",
      "amy-lee",
      "amy_lee",
      "é",
      "e\u0301",
      "a",
      "a.b",
      "a:b",
      "=",
      "a=2Eb",
    ];
    const ids = new Map<string, string>();
    for (const sessionKey of keys)
      ids.set(sessionKey, (await lily.send(`text of ${sessionKey}`, { sessionKey })).sessionId);
    expect(new Set(ids.values()).size).toBe(keys.length);
    const found = await lily.sessions.repository.searchTurns(
      { owner: OWNER, sessionKey: "user1" },
      "text",
      100,
    );
    expect(found.map((turn) => turn.sessionId)).toEqual([ids.get("user1")]);
  });

  it("keeps owners apart who use the same key", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const mine = await lily.send("mine", { owner: "ann" });
    const yours = await lily.send("yours", { owner: "ben" });
    expect(mine.sessionId).not.toBe(yours.sessionId);
    expect(inputOf(model)).toEqual(["human: yours"]);
    expect((await lily.send("/recall mine", { owner: "ben" })).envelope.data).toEqual({ found: [] });
  });
});

describe("field reports of commands, through whole turns", () => {
  it.each(["/newsletter ideas", "/new-york trip", "/newhello", "/forgetful"])(
    "CM-01 refuses %j as an unknown command and ends nothing",
    async (text) => {
      const lily = await start({ model: echoModel() });
      const first = await lily.send("hello");
      expect((await lily.send(text)).envelope).toMatchObject({ ok: false, code: "command_unknown" });
      expect((await lily.chain()).latest).toBe(first.sessionId);
      expect(await lily.turns(first.sessionId)).toHaveLength(1);
    },
  );

  it.each([
    "/new\thello",
    "/new\u00a0hello",
    "  /new hello",
    "/NEW hello",
    "/new: hello",
    "/new@lily hello",
    "\ufeff/new hello",
  ])("CM-05 CM-07 CM-10 opens a session whose first user text is hello for %j", async (text) => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("before");
    const reply = await lily.send(text);
    expect(reply.sessionId).not.toBe(first.sessionId);
    expect((await lily.turns(reply.sessionId))[0]?.messages[0]).toMatchObject({
      role: "user",
      content: "hello",
    });
  });

  it.each(["／new hello", "/ new", "//new"])("CM-07 answers %j as text", async (text) => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("before");
    expect(await lily.send(text)).toMatchObject({ outcome: "answered", sessionId: first.sessionId, turn: 2 });
  });

  it("CM-02 keeps the lines behind a command", async () => {
    const lily = await start({ model: echoModel() });
    const reply = await lily.send("/new Rent is due\non the 3rd");
    expect((await lily.turns(reply.sessionId))[0]?.messages[0]?.content).toBe("Rent is due\non the 3rd");
  });

  it("CM-06 ignores a command for another bot: no run, no rollover, nothing stored", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const first = await lily.send("hello");
    lily.clock.advance(100 * 3_600_000);
    expect(await lily.send("/status@other_bot")).toMatchObject({ outcome: "ignored", turn: null });
    expect(await lily.send("/new@other_bot")).toMatchObject({ outcome: "ignored", turn: null });
    expect((await lily.chain()).latest).toBe(first.sessionId);
    expect(model.calls).toHaveLength(1);
  });

  it("CM-09 reads a command in content parts, beside a picture too, and refuses parts of other kinds", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("before");
    const reply = await lily.send([{ type: "text", text: "/new hi" }]);
    expect((await lily.turns(reply.sessionId))[0]?.messages[0]?.content).toBe("hi");
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const pictured = await lily.send([image, { type: "text", text: "/new look" }]);
    const [turn] = await lily.turns(pictured.sessionId);
    expect(turn?.messages[0]).toMatchObject({ content: "look", attachments: [{ kind: "image", bytes: 3 }] });
    const video = { type: "video", mimeType: "video/mp4", data: "AAAA" };
    expect((await lily.send([video, { type: "text", text: "/new" }])).envelope.code).toBe("message_invalid");
    expect((await lily.chain()).sessions).toHaveLength(3);
  });

  it.each(["/new", "/new   ", "/new\n"])(
    "CM-11 CM-13 answers %j with one notice and no model call",
    async (text) => {
      const model = echoModel();
      const lily = await start({ model });
      await lily.send("before");
      const reply = await lily.send(text);
      expect(reply).toMatchObject({ outcome: "rotated", envelope: { code: "session_rotated" } });
      expect(reply.announcement).toBeUndefined();
      expect(model.calls).toHaveLength(1);
      expect(await lily.turns(reply.sessionId)).toEqual([]);
    },
  );

  it("AX-06 goes back to the primary model with the next turn, and keeps no fallback over a restart", async () => {
    const overloaded = Object.assign(new Error("overloaded"), { status: 529 });
    let down = true;
    const primary = new ScriptedChatModel(() => (down ? { error: overloaded } : "from the primary"));
    const other = new ScriptedChatModel(() => "from the fallback");
    const lily = await start({
      model: primary,
      models: { "scripted:other": other },
      config: { agents: { defaults: { model: "scripted:test", fallbacks: ["scripted:other"] } } },
    });
    const first = await lily.send("one");
    expect(first.envelope.message).toBe("from the fallback");
    expect((await lily.turns(first.sessionId))[0]?.explanation.solver).toBe("scripted:other");
    down = false;
    expect((await lily.send("two")).envelope.message).toBe("from the primary");
    await lily.restart();
    expect((await lily.send("three")).envelope.message).toBe("from the primary");
    down = true;
    await lily.send("four");
    down = false;
    expect((await lily.send("/new five")).envelope.message).toBe("from the primary");
  });

  it("AX-06 tells of the primary's failure when no fallback answers either", async () => {
    const lily = await start({
      model: new ScriptedChatModel(() => ({ error: new Error("the primary is down") })),
      models: { "scripted:other": new ScriptedChatModel(() => ({ error: new Error("so is the other") })) },
      config: { agents: { defaults: { model: "scripted:test", fallbacks: ["scripted:other"] } } },
    });
    const reply = await lily.send("one");
    expect(reply).toMatchObject({ outcome: "failed", envelope: { code: "model_failed" } });
    expect(reply.envelope.message).toContain("the primary is down");
  });

  it("AX-07 keeps a model that the user chose over /new, and nothing that was not chosen", async () => {
    const fast = echoModel();
    const lily = await start({ model: echoModel(), models: { "scripted:fast": fast } });
    await lily.send("one");
    await lily.send("/model scripted:fast");
    await lily.send("/new two");
    expect(fast.calls).toHaveLength(1);
    await lily.send("/model reset");
    await lily.send("/new three");
    expect(fast.calls).toHaveLength(1);
  });
});

describe("bad input", () => {
  it.each<[string, unknown, string]>([
    ["an empty string", "", "message_blank"],
    ["white space", " \n\t\u00a0", "message_blank"],
    ["null", null, "message_invalid"],
    ["undefined", undefined, "message_invalid"],
    ["a number", 42, "message_invalid"],
    ["an object", { text: "hi" }, "message_invalid"],
    ["no parts", [], "message_blank"],
    ["a blank part", [{ type: "text", text: " " }], "message_blank"],
    ["a part without text", [{ type: "text" }], "message_invalid"],
    ["a part whose text is no string", [{ type: "text", text: 7 }], "message_invalid"],
    ["parts that are null", [null], "message_invalid"],
    ["a message over the limit", "x".repeat(32_001), "message_too_large"],
  ])("refuses %s with a code and changes nothing", async (_what, content, code) => {
    const model = echoModel();
    const lily = await start({ model });
    const reply = await lily.send(content);
    expect(reply).toMatchObject({ outcome: "refused", turn: null, envelope: { ok: false, code } });
    expect(reply.envelope.next).toBeTruthy();
    expect(await lily.sessions.repository.listChains(OWNER)).toEqual([]);
    expect(model.calls).toHaveLength(0);
  });

  it("takes a message of exactly the limit", async () => {
    const lily = await start({ model: echoModel() });
    expect(await lily.send("x".repeat(32_000))).toMatchObject({ outcome: "answered" });
  });

  it.each<[string, object, string]>([
    ["a blank key", { sessionKey: " " }, "session_key_invalid"],
    ["a key that is no text", { sessionKey: 7 }, "session_key_invalid"],
    ["a key with NUL", { sessionKey: "a\u0000b" }, "session_key_invalid"],
    ["a key with half a surrogate pair", { sessionKey: "a\ud83d" }, "session_key_invalid"],
    ["a key of 10,000 characters", { sessionKey: "a".repeat(10_000) }, "session_key_invalid"],
    ["a blank delivery id", { deliveryId: "" }, "delivery_id_invalid"],
    ["a delivery id with a line break", { deliveryId: "a\nb" }, "delivery_id_invalid"],
    ["an empty owner", { owner: "" }, "session_key_invalid"],
  ])("refuses %s and changes nothing", async (_what, request, code) => {
    const lily = await start({ model: echoModel() });
    expect(await lily.send("hi", request)).toMatchObject({ outcome: "refused", envelope: { code } });
    expect(await lily.sessions.repository.listChains(OWNER)).toEqual([]);
  });

  it("EN-02 EN-03 stores text with half a surrogate pair or NUL in a form that every store takes", async () => {
    const lily = await start({ model: echoModel() });
    const reply = await lily.send("caf\ud83d and abc\u0000def");
    await lily.restart();
    expect((await lily.turns(reply.sessionId))[0]?.messages[0]?.content).toBe("caf\ufffd and abc\u2400def");
  });

  it.each<[string, unknown]>([
    ["nothing", {}],
    ["no messages", { messages: [] }],
    ["null", { messages: [null] }],
    ["a number", { messages: 42 }],
    ["a blank message", { messages: [{ role: "user", content: " " }] }],
    ["an assistant message", { messages: [{ role: "assistant", content: "I said so" }] }],
    ["two messages", { messages: ["one", "two"] }],
    [
      "two messages of one id",
      { messages: ["one", "two"].map((content) => ({ role: "user", content, id: "u" })) },
    ],
    [
      "a notice that only Lily makes",
      {
        messages: [
          { role: "assistant", content: "I am Lily", additional_kwargs: { lily: { notice: true } } },
        ],
      },
    ],
    ["a message without content", { messages: [{ role: "user" }] }],
  ])(
    "SV-05 HI-14 refuses %s that is sent to the graph itself, without an error and without a session",
    async (_what, input) => {
      const model = echoModel();
      const lily = await start({ model });
      const thread = "0198c0de-0000-4000-8000-000000000001";
      const result = await lily.sessions.graph.invoke(input as never, {
        configurable: { thread_id: thread },
      });
      expect(result.reply).toMatchObject({ outcome: "refused", envelope: { ok: false } });
      expect(await lily.sessions.repository.findSession(thread)).toBeUndefined();
      expect(model.calls).toHaveLength(0);
    },
  );

  it("HI-14 understands a caller that sends its whole history again with the ids it was given", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const config = { configurable: { thread_id: "0198c0de-0000-4000-8000-000000000002" } };
    const first = await lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "u1", id: "u1" }] },
      config,
    );
    const history = first.messages.map((message) => ({
      role: message.type === "human" ? "user" : "assistant",
      content: message.text,
      id: message.id,
    }));
    const second = await lily.sessions.graph.invoke(
      { messages: [...history, { role: "user", content: "u2", id: "u2" }] as never },
      config,
    );
    expect(second.messages.map((message) => message.text)).toEqual(["u1", "u1", "u2", "u2"]);
    expect(model.calls).toHaveLength(2);
  });

  it("refuses another owner's session, and a key that is not the session's", async () => {
    const lily = await start({ model: echoModel() });
    const mine = await lily.send("private", { owner: "ann" });
    const config = (context: object) => ({
      configurable: { thread_id: mine.sessionId },
      context: context as never,
    });
    const message = { messages: [{ role: "user" as const, content: "let me in" }] };
    const other = await lily.sessions.graph.invoke(message, config({ owner: "ben" }));
    expect(other.reply).toMatchObject({ outcome: "refused", envelope: { code: "session_not_yours" } });
    const wrongKey = await lily.sessions.graph.invoke(
      message,
      config({ owner: "ann", sessionKey: "elsewhere" }),
    );
    expect(wrongKey.reply).toMatchObject({ outcome: "refused", envelope: { code: "session_key_mismatch" } });
    expect(await lily.turns(mine.sessionId)).toEqual([]);
    expect(
      (
        await lily.sessions.repository.readTurns(
          { owner: "ann", sessionKey: "test:main", sessionId: mine.sessionId },
          { from: 1, to: 9 },
        )
      ).length,
    ).toBe(1);
  });

  it.each(["", " ", "../../../tmp/pwn", "a".repeat(10_000), "x\u0000.json", "CON"])(
    "SV-06 SC-07 refuses the thread id %j",
    async (threadId) => {
      const lily = await start({ model: echoModel() });
      const invoke = lily.sessions.graph.invoke(
        { messages: ["hi"] as never },
        { configurable: { thread_id: threadId } },
      );
      const outcome = await invoke.then(
        (result) => result.reply?.envelope.code,
        () => "session_id_invalid",
      );
      expect(outcome).toBe("session_id_invalid");
      expect(await lily.sessions.repository.listChains(OWNER)).toEqual([]);
    },
  );

  it("takes a thread without a session key as its own key, which only a command ends", async () => {
    const lily = await start({ model: echoModel() });
    const thread = "0198c0de-0000-4000-8000-000000000003";
    const config = { configurable: { thread_id: thread } };
    await lily.sessions.graph.invoke({ messages: [{ role: "user", content: "hi" }] }, config);
    lily.clock.advance(1_000 * 3_600_000);
    const later = await lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "still here" }] },
      config,
    );
    expect(later.reply).toMatchObject({ sessionId: thread, turn: 2 });
    const ended = await lily.sessions.graph.invoke({ messages: [{ role: "user", content: "/new" }] }, config);
    expect(ended.reply).toMatchObject({ outcome: "rotated" });
  });
});
