import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isNotice,
  laterCopy,
  markOf,
  noticeMessage,
  reduceMessages,
  type MessagesUpdate,
} from "./messages.ts";

const user = (id: string, content = `text of ${id}`) => new HumanMessage({ id, content });
const answer = (id: string, content = `text of ${id}`) => new AIMessage({ id, content });
/** The id under which a message with the id `u1` stands when it is sent again. */
const AGAIN = laterCopy(user("u1")).id ?? "";

const ids = (messages: readonly BaseMessage[]) => messages.map((message) => message.id);

/** What is no message, as a caller may send it. */
const sent = (value: unknown): MessagesUpdate => value as MessagesUpdate;

describe("the messages channel", () => {
  it("does what two updates do after each other when they come as one", () => {
    const left = [user("u1"), answer("a1")];
    const brought = [user("u2"), answer("a2"), new RemoveMessage({ id: "u1" })];
    const removed = [new RemoveMessage({ id: "u2" }), new RemoveMessage({ id: "a1" }), user("u3")];
    const apart = reduceMessages(reduceMessages(left, brought), removed);
    expect(ids(apart)).toEqual(["a2", "u3"]);
    expect(ids(reduceMessages(left, [...brought, ...removed]))).toEqual(ids(apart));
  });

  const before = [user("u1"), answer("a1")];

  it("adds new messages at the end, in order", () => {
    expect(ids(reduceMessages(before, [user("u2"), answer("a2")]))).toEqual(["u1", "a1", "u2", "a2"]);
  });

  it("takes a single message for a list of one", () => {
    expect(ids(reduceMessages(before, user("u2")))).toEqual(["u1", "a1", "u2"]);
  });

  it("stays as it is for nothing", () => {
    expect(ids(reduceMessages(before, []))).toEqual(["u1", "a1"]);
  });

  it("takes the message-like objects that clients send", () => {
    const after = reduceMessages(
      [],
      sent([{ role: "user", content: "hi", id: "u1" }, ["human", "hi"], "hi"]),
    );
    expect(after.every((message) => HumanMessage.isInstance(message) && message.content === "hi")).toBe(true);
    expect(after).toHaveLength(3);
  });

  it("gives an id to a message that has none", () => {
    expect(reduceMessages([], sent([{ role: "user", content: "hi" }]))[0]?.id).toBeTruthy();
  });

  it("removes a message by id, and ignores a removal of what is not there", () => {
    expect(ids(reduceMessages(before, [new RemoveMessage({ id: "u1" })]))).toEqual(["a1"]);
    expect(ids(reduceMessages(before, [new RemoveMessage({ id: "nowhere" })]))).toEqual(["u1", "a1"]);
  });

  it("removes everything when it is told to", () => {
    expect(ids(reduceMessages(before, [new RemoveMessage({ id: "__remove_all__" }), user("u9")]))).toEqual([
      "u9",
    ]);
  });

  it("changes neither the list nor the messages that it was given", () => {
    const left = [user("u1")];
    reduceMessages(left, [user("u1", "changed"), user("u2")]);
    expect(ids(left)).toEqual(["u1"]);
    expect(left[0]?.content).toBe("text of u1");
  });
});

describe("a message whose id is there already", () => {
  const before = [user("u1"), answer("a1")];

  it("does not rewrite the past when it is a user's: it stands at the end under an id of its own", () => {
    const after = reduceMessages(before, [user("u1", "another text")]);
    expect(ids(after)).toEqual(["u1", "a1", AGAIN]);
    expect(after[0]?.content).toBe("text of u1");
    expect(after[2]?.content).toBe("another text");
    expect(markOf(after[2] as BaseMessage).redelivers).toBe("u1");
  });

  it("stands at the end once, with its newest text, however often it is sent", () => {
    let messages: BaseMessage[] = before;
    for (const text of ["one", "two", "three"]) messages = reduceMessages(messages, [user("u1", text)]);
    expect(ids(messages)).toEqual(["u1", "a1", AGAIN]);
    expect(messages[2]?.content).toBe("three");
  });

  it("is dropped when it is not a user's and the input of a run", () => {
    const after = reduceMessages(before, {
      sent: [answer("a1", "forged"), new ToolMessage({ id: "u1", content: "x", tool_call_id: "c" })],
    });
    expect(ids(after)).toEqual(["u1", "a1"]);
    expect(after[1]?.content).toBe("text of a1");
  });

  it("stands at the end when it is not a user's and written by hand, so that it can be told of", () => {
    const after = reduceMessages(before, [answer("a1", "forged")]);
    expect(after.map(({ content }) => content)).toEqual(["text of u1", "text of a1", "forged"]);
    expect(markOf(after[2] as BaseMessage).rewrites).toBe("a1");
  });

  it("never changes or removes what stood there, whatever is sent", () => {
    const id = fc.constantFrom("u1", "a1", "u2", AGAIN, "");
    const message = fc
      .tuple(id, fc.string(), fc.boolean())
      .map(([name, content, isUser]) => (isUser ? user(name, content) : answer(name, content)));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (incoming) => {
        const after = reduceMessages(before, incoming);
        expect(ids(after).slice(0, 2)).toEqual(["u1", "a1"]);
        expect(after.slice(0, 2).map(({ content }) => content)).toEqual(["text of u1", "text of a1"]);
        expect(new Set(ids(after)).size).toBe(after.length);
      }),
    );
  });
});

describe("what is not a message", () => {
  it.each<[string, unknown]>([
    ["null", null],
    ["a number", 5],
    ["an empty object", {}],
    ["an object of an unknown role", { role: "wizard", content: "x" }],
    ["a boolean", true],
  ])("stands marked in the list, so that it can be refused in words: %s", (_what, value) => {
    const after = reduceMessages([], sent([value]));
    expect(after).toHaveLength(1);
    expect(markOf(after[0] as BaseMessage).malformed).toEqual(expect.any(String));
  });

  it("does not keep the messages beside it from entering", () => {
    const after = reduceMessages([], sent([null, { role: "user", content: "hi", id: "u1" }]));
    expect(after.map((message) => markOf(message).malformed === undefined)).toEqual([false, true]);
  });

  it("never throws, whatever is sent", () => {
    fc.assert(
      fc.property(fc.array(fc.anything(), { maxLength: 3 }), (values) => {
        expect(() => reduceMessages([], sent(values))).not.toThrow();
      }),
    );
  });
});

describe("a mark", () => {
  it("cannot be forged on a user message", () => {
    const forged = { notice: true, redelivers: "u0", malformed: "x" };
    const after = reduceMessages(
      [],
      [new HumanMessage({ id: "u1", content: "hi", additional_kwargs: { lily: forged, kept: 1 } })],
    );
    expect(markOf(after[0] as BaseMessage)).toEqual({});
    expect(after[0]).toMatchObject({ id: "u1", content: "hi", additional_kwargs: { kept: 1 } });
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a text", "notice"],
    ["true", true],
  ])("is empty when there is %s in its place", (_what, lily) => {
    expect(markOf(new AIMessage({ content: "x", additional_kwargs: { lily } }))).toEqual({});
  });

  it("tells a notice from an answer", () => {
    expect(isNotice(noticeMessage("No model is configured.", "n1"))).toBe(true);
    expect(isNotice(answer("a1"))).toBe(false);
    expect(isNotice(new AIMessageChunk("x"))).toBe(false);
  });

  it("is still there after the message went through JSON", () => {
    const notice = noticeMessage("x", "n1");
    const after = reduceMessages(
      [],
      sent([{ type: "ai", id: "n1", content: "x", additional_kwargs: notice.additional_kwargs }]),
    );
    expect(isNotice(after[0] as BaseMessage)).toBe(true);
  });

  it("puts a message at the end that the same update takes out and brings back under its id", () => {
    const before = [user("u1"), user("u2")];
    const after = reduceMessages(before, [new RemoveMessage({ id: "u1" }), user("u1")]);
    expect(after.map(({ id }) => id)).toEqual(["u2", "u1"]);
  });
});

describe("a later copy", () => {
  it("has another id than the message, and different ones for different messages", () => {
    const names = ["u1", "u2", AGAIN].map((id) => laterCopy(user(id)).id);
    expect(new Set([...names, "u1", "u2"]).size).toBe(5);
  });

  it("keeps the text and says what it was called first, also when it is copied again", () => {
    const copy = laterCopy(user("u1"));
    expect(copy).toMatchObject({ id: AGAIN, content: "text of u1" });
    expect(laterCopy(copy).id).toBe(AGAIN);
    expect(markOf(laterCopy(copy)).redelivers).toBe("u1");
  });
});
