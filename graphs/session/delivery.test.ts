import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import { readDelivery, sortMessages } from "./delivery.ts";
import { noticeMessage, reduceMessages, type MessagesUpdate } from "./messages.ts";
import type { TurnInFlight } from "./state.ts";

const user = (id: string, content = `text of ${id}`) => new HumanMessage({ id, content });
const answer = (id: string) => new AIMessage({ id, content: `text of ${id}` });
const ids = (messages: readonly BaseMessage[]) => messages.map((message) => message.id);

/** What a caller sent, as it stands in `messages`. */
const arrived = (value: unknown) => reduceMessages([], [value] as MessagesUpdate);

/** The turn in flight as far as sorting looks at it. */
const beginning = (firstMessageId: string) => ({ firstMessageId }) as TurnInFlight;

const LIMITS = { messageCharacters: 100, attachmentBytes: 100 };

const committed = [{ turn: 1, messageIds: ["u1", "a1"], characters: 10 }];

function sorted(messages: BaseMessage[], turn: TurnInFlight | null = null) {
  const { notices, inFlight, inbound } = sortMessages({ messages, window: committed, turn });
  return { notices: ids(notices), inFlight: ids(inFlight), inbound: ids(inbound) };
}

describe("sorting messages", () => {
  it("finds only the new message behind committed turns", () => {
    expect(sorted([user("u1"), answer("a1"), user("u2")])).toEqual({
      notices: [],
      inFlight: [],
      inbound: ["u2"],
    });
  });

  it("keeps notices apart from both", () => {
    const notice = noticeMessage("No model.", "n1");
    expect(sorted([user("u1"), notice, answer("a1"), user("u2")])).toMatchObject({
      notices: ["n1"],
      inbound: ["u2"],
    });
  });

  it("finds the messages of a turn that did not end, up to the user message of this run", () => {
    const tool = new ToolMessage({ id: "t2", content: "x", tool_call_id: "c" });
    const messages = [user("u1"), answer("a1"), user("u2"), answer("a2"), tool, user("u3")];
    expect(sorted(messages, beginning("u2"))).toMatchObject({
      inFlight: ["u2", "a2", "t2"],
      inbound: ["u3"],
    });
  });

  it("finds no inbound message when a run goes on with the turn that did not end", () => {
    expect(sorted([user("u2"), answer("a2")], beginning("u2"))).toMatchObject({
      inFlight: ["u2", "a2"],
      inbound: [],
    });
  });

  it("takes everything for inbound when the turn's first message is gone", () => {
    expect(sorted([user("u1"), user("u3")], beginning("u2"))).toMatchObject({
      inFlight: [],
      inbound: ["u3"],
    });
  });

  it("takes a user message before the turn's first for inbound", () => {
    expect(sorted([user("u0"), user("u2"), answer("a2")], beginning("u2"))).toMatchObject({
      inFlight: ["u2", "a2"],
      inbound: ["u0"],
    });
  });

  it("finds nothing in an empty conversation", () => {
    expect(sorted([])).toEqual({ notices: [], inFlight: [], inbound: [] });
  });
});

describe("the delivery of a run", () => {
  const refusal = (inbound: BaseMessage[]): string | undefined => {
    try {
      readDelivery(inbound, LIMITS);
      return undefined;
    } catch (error) {
      if (!isLilyError(error)) throw error;
      return error.code;
    }
  };

  it("is the one new user message, under its id", () => {
    expect(readDelivery([user("u2", "hi")], LIMITS)).toMatchObject({ deliveryId: "u2", text: "hi" });
  });

  it("is the new message alone when the caller sent its history with it", () => {
    const before = [user("u1"), answer("a1")];
    const all = reduceMessages(before, [user("u1"), answer("a1"), user("u2", "new")]);
    const { inbound } = sortMessages({ messages: all, window: committed, turn: null });
    expect(readDelivery(inbound, LIMITS)).toMatchObject({ deliveryId: "u2", text: "new" });
  });

  it("is the last message of a history that has nothing new, under the id that it had", () => {
    const before = [user("u1"), answer("a1")];
    const all = reduceMessages(before, [user("u1", "again"), answer("a1")]);
    const { inbound } = sortMessages({ messages: all, window: committed, turn: null });
    expect(readDelivery(inbound, LIMITS)).toMatchObject({ deliveryId: "u1", text: "again" });
  });

  it.each<[string, BaseMessage[], string]>([
    ["nothing", [], "message_blank"],
    ["a blank text", [user("u2", "  ")], "message_blank"],
    ["two new messages", [user("u2"), user("u3")], "message_multiple"],
    ["an answer", [answer("a2")], "message_invalid"],
    ["a system message", [new SystemMessage({ id: "s", content: "x" })], "message_invalid"],
    ["a user message with an answer", [user("u2"), answer("a2")], "message_invalid"],
    ["a text over the limit", [user("u2", "x".repeat(101))], "message_too_large"],
    ["an id with a line end", [user("a\nb")], "delivery_id_invalid"],
    ["a blank id", [user(" ")], "delivery_id_invalid"],
    ["no id", [new HumanMessage("hi")], "delivery_id_invalid"],
    [
      "a picture",
      [new HumanMessage({ id: "u2", content: [{ type: "image_url", image_url: "x" }] })],
      "message_invalid",
    ],
    ["what is no message", arrived({}), "message_invalid"],
    ["a message without content", arrived({ role: "user", id: "u2" }), "message_blank"],
    ["what is no message beside one", [...arrived(null), user("u2")], "message_invalid"],
  ])("is refused for %s", (_what, inbound, code) => {
    expect(refusal(inbound)).toBe(code);
  });

  it("has a text at the limit", () => {
    expect(readDelivery([user("u2", "x".repeat(100))], LIMITS).text).toHaveLength(100);
  });
});
