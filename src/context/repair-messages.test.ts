import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message, ToolCall } from "#src/sessions/message.ts";
import { MISSING_RESULT, repairMessages, type Repairs } from "./repair-messages.ts";

const AT = "2026-03-01T09:00:00.000Z";
const user = (content: string): Message => ({ role: "user", content, timestamp: AT });
const system = (content: string): Message => ({ role: "system", content, timestamp: AT });
const answer = (content: string): Message => ({ role: "assistant", content, timestamp: AT });
const call = (id: string, args = "{}", name = "find"): ToolCall => ({ id, name, arguments: args });
const asks = (...toolCalls: ToolCall[]): Message => ({
  role: "assistant",
  content: "",
  toolCalls,
  timestamp: AT,
});
const result = (toolCallId: string, content = `result of ${toolCallId}`): Message => ({
  role: "tool",
  content,
  toolCallId,
  timestamp: AT,
});
const picture: Message = {
  ...user(""),
  attachments: [{ kind: "image", mimeType: "image/png", sha256: "a".repeat(64), bytes: 10 }],
};

/** What a strict provider refuses, `undefined` when it takes the sequence. */
function refusedBy(messages: readonly Message[]): string | undefined {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const message of messages) {
    const { role, content } = message;
    if (!content.isWellFormed() || content.includes("\u0000")) return "text that cannot be sent";
    if (role === "tool") {
      if (open[0] !== message.toolCallId) return "a result that is not the next one asked for";
      if (content.trim() === "") return "a blank result";
      open = open.slice(1);
      continue;
    }
    if (open.length > 0) return "a call without a result";
    const calls = message.toolCalls ?? [];
    if (calls.length > 0 && role !== "assistant") return "a call that no assistant made";
    const hasMore = calls.length > 0 || (message.attachments ?? []).length > 0;
    if (content.trim() === "" && (content !== "" || !hasMore)) return "a blank text";
    for (const { id, name, arguments: args } of calls) {
      if (seen.has(id) || id === "" || !id.isWellFormed()) return "an id that is taken or none";
      seen.add(id);
      if (!/^[\w-]{1,64}$/u.test(name)) return "a name that is none";
      const parsed: unknown = JSON.parse(args);
      if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
        return "arguments that are no object";
      if (/\\u(d[89a-f]|0000)/iu.test(JSON.stringify(parsed))) return "arguments that cannot be sent";
    }
    open = calls.map(({ id }) => id);
  }
  return open.length > 0 ? "a call without a result" : undefined;
}

describe("the repaired conversation", () => {
  it.each<[string, Message[], Message[], Repairs]>([
    ["nothing to repair", [user("a"), answer("b")], [user("a"), answer("b")], {}],
    [
      "two user messages in a row, which are fine",
      [user("a"), user("b"), answer("c")],
      [user("a"), user("b"), answer("c")],
      {},
    ],
    [
      "calls with their results",
      [user("a"), asks(call("c1"), call("c2")), result("c1"), result("c2"), answer("b")],
      [user("a"), asks(call("c1"), call("c2")), result("c1"), result("c2"), answer("b")],
      {},
    ],
    [
      "a result without a call, which is dropped",
      [user("a"), result("c1"), answer("b")],
      [user("a"), answer("b")],
      { orphan_result_dropped: 1 },
    ],
    [
      "a call without a result, which gets one",
      [user("a"), asks(call("c1"), call("c2")), result("c2"), user("b")],
      [user("a"), asks(call("c1"), call("c2")), result("c1", MISSING_RESULT), result("c2"), user("b")],
      { missing_result_added: 1, result_moved: 1 },
    ],
    [
      "a late second result, which is dropped",
      [asks(call("c1")), result("c1", "cancelled"), user("a"), result("c1", "late"), answer("b")],
      [asks(call("c1")), result("c1", "cancelled"), user("a"), answer("b")],
      { duplicate_result_dropped: 1 },
    ],
    [
      "results in another order than their calls",
      [asks(call("c1"), call("c2")), result("c2"), result("c1")],
      [asks(call("c1"), call("c2")), result("c1"), result("c2")],
      { result_moved: 2 },
    ],
    [
      "a result behind another message",
      [asks(call("c1")), answer("b"), result("c1")],
      [asks(call("c1")), result("c1"), answer("b")],
      { result_moved: 1 },
    ],
    [
      "a result before its call",
      [user("a"), result("c1"), asks(call("c1"))],
      [user("a"), asks(call("c1")), result("c1")],
      { result_moved: 1 },
    ],
    [
      "a result before its call and before another question, which is another turn's",
      [result("c1"), user("a"), asks(call("c1"))],
      [user("a"), asks(call("c1")), result("c1", MISSING_RESULT)],
      { orphan_result_dropped: 1, missing_result_added: 1 },
    ],
    [
      "ids that are used again, each with its own result",
      [asks(call("c1")), result("c1", "x"), asks(call("c1")), result("c1", "y")],
      [asks(call("c1")), result("c1", "x"), asks(call("c1-2")), result("c1-2", "y")],
      { call_renamed: 1 },
    ],
    [
      "one id twice in one message",
      [asks(call("c1"), call("c1")), result("c1", "x"), result("c1", "y")],
      [asks(call("c1"), call("c1-2")), result("c1", "x"), result("c1-2", "y")],
      { call_renamed: 1 },
    ],
    [
      "a call without an id and with a name that is none",
      [asks(call("", "{}", "find it!")), result("", "x")],
      [asks(call("call-2", "{}", "find_it_")), result("call-2", "x")],
      { call_renamed: 1 },
    ],
    ["a blank answer", [user("a"), answer(" \n")], [user("a")], { blank_message_dropped: 1 }],
    ["a blank instruction", [system(""), user("a")], [user("a")], { blank_message_dropped: 1 }],
    [
      "blank text beside a call",
      [{ ...asks(call("c1")), content: " \n" }, result("c1")],
      [asks(call("c1")), result("c1")],
      { blank_text_replaced: 1 },
    ],
    [
      "a blank user message",
      [user(" "), answer("b")],
      [user("(no text)"), answer("b")],
      { blank_text_replaced: 1 },
    ],
    ["a picture without text, which is fine", [picture, answer("b")], [picture, answer("b")], {}],
    [
      "a blank result",
      [asks(call("c1")), result("c1", "")],
      [asks(call("c1")), result("c1", "(no output)")],
      { blank_text_replaced: 1 },
    ],
    [
      "halves of surrogate pairs and NUL",
      [user("a\ud800"), answer("b\u0000c")],
      [user("a\ufffd"), answer("b\u2400c")],
      { text_replaced: 2 },
    ],
    [
      "a half of a surrogate pair that JSON has hidden in arguments",
      [asks(call("c1", '{"note":"caf\\ud83d","\\u0000":1}')), result("c1")],
      [asks(call("c1", '{"note":"caf\ufffd","\u2400":1}')), result("c1")],
      { arguments_replaced: 1 },
    ],
  ])("is right for %s", (_what, before, after, repairs) => {
    const repaired = repairMessages(before);
    expect(repaired.messages).toEqual(after);
    expect(repaired.repairs).toEqual(repairs);
    expect(refusedBy(repaired.messages)).toBeUndefined();
  });

  it.each(['{"cmd": "ls', "", "[1]", "null", '"x"', "5"])("has no arguments where they were %j", (args) => {
    const { messages } = repairMessages([asks(call("c1", args)), result("c1")]);
    expect(messages[0]?.toolCalls?.[0]?.arguments).toBe("{}");
  });

  it("keeps the text of good arguments, white space and order of keys included", () => {
    const args = '{ "b": 1, "a": 2.0 }';
    expect(repairMessages([asks(call("c1", args)), result("c1")]).messages[0]?.toolCalls).toEqual([
      call("c1", args),
    ]);
  });

  it("keeps the objects of what needed nothing, and changes no object", () => {
    const before = [user("a"), asks(call("c1")), result("c1"), answer("b\ud800")];
    const copy = structuredClone(before);
    const { messages } = repairMessages(before);
    expect(messages.slice(0, 3).every((message, at) => message === before[at])).toBe(true);
    expect(before).toEqual(copy);
  });
});

const text = fc.oneof(
  fc.constantFrom("", " ", "a", "b", "a\ud800", "\udc00\u0000"),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const anyId = fc.oneof(fc.constantFrom("c1", "c2", "c1-2", ""), text);
const anyCall = fc.record({
  id: anyId,
  name: fc.oneof(fc.constant("find"), text),
  arguments: fc.oneof(fc.constantFrom("{}", '{"a":"\\ud800"}', "{broken"), fc.json(), text),
});
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    role: fc.constantFrom("user" as const, "system" as const),
    content: text,
    timestamp: fc.constant(AT),
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: text,
    toolCalls: fc.array(anyCall, { maxLength: 3 }),
    timestamp: fc.constant(AT),
  }),
  fc.record({
    role: fc.constant("tool" as const),
    content: text,
    toolCallId: anyId,
    timestamp: fc.constant(AT),
  }),
  fc.constant(picture),
);
const anyConversation = fc.array(anyMessage, { maxLength: 12 });

describe("a repair of any conversation", () => {
  it("gives a sequence that a strict provider takes", () => {
    fc.assert(
      fc.property(anyConversation, (messages) => {
        expect(refusedBy(repairMessages(messages).messages)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  it("needs no second repair, and the second changes nothing", () => {
    fc.assert(
      fc.property(anyConversation, (messages) => {
        const once = repairMessages(messages).messages;
        const twice = repairMessages(once);
        expect(twice.messages).toEqual(once);
        expect(twice.repairs).toEqual({});
      }),
    );
  });

  it("keeps every user message and every call, in their order", () => {
    const kept = (messages: readonly Message[]) =>
      messages.flatMap(({ role, toolCalls }) =>
        role === "user" ? ["user"] : (toolCalls ?? []).map(() => "call"),
      );
    fc.assert(
      fc.property(anyConversation, (messages) => {
        expect(kept(repairMessages(messages).messages)).toEqual(kept(messages));
      }),
    );
  });

  it("uses each result once, behind the call of its id", () => {
    fc.assert(
      fc.property(anyConversation, (messages) => {
        const numbered = messages.map((message, at) =>
          message.role === "tool"
            ? { ...message, content: `result ${at} of ${message.toolCallId?.length}` }
            : message,
        );
        const { messages: after, repairs } = repairMessages(numbered);
        const results = after.filter(({ role, content }) => role === "tool" && content !== MISSING_RESULT);
        expect(new Set(results.map(({ content }) => content)).size).toBe(results.length);
        const dropped = (repairs.orphan_result_dropped ?? 0) + (repairs.duplicate_result_dropped ?? 0);
        expect(results.length + dropped).toBe(numbered.filter(({ role }) => role === "tool").length);
      }),
    );
  });
});
