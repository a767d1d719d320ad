import { describe, expect, it } from "vitest";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { type Message, createMemorySession } from "./message.ts";

const ids = createSequentialIds(7);
const user = (content: string): Message => ({ role: "user", content, timestamp: "2026-03-01T09:00:00.000Z" });

describe("a session in memory", () => {
  it("begins with an id and no messages", () => {
    const session = createMemorySession(ids);
    expect(session.id()).not.toBe("");
    expect(session.messages()).toEqual([]);
  });

  it("has an id that no other session has", () => {
    expect(createMemorySession(ids).id()).not.toBe(createMemorySession(ids).id());
  });

  it("keeps its id", () => {
    const session = createMemorySession(ids);
    const first = session.id();
    session.addMessage(user("hello"));
    session.clear();
    expect(session.id()).toBe(first);
  });

  it("gives a message back with every field as it was added, the caller's timestamp included", () => {
    const session = createMemorySession(ids);
    const message: Message = {
      role: "assistant",
      content: "looking",
      toolCalls: [{ id: "c1", name: "search", arguments: '{"q":"x"}' }],
      timestamp: "1999-12-31T23:59:59.999Z",
    };
    session.addMessage(message);
    expect(session.messages()).toEqual([message]);
  });

  it("keeps the order in which messages were added, whatever their timestamps say", () => {
    const session = createMemorySession(ids);
    for (const [index, content] of ["a", "b", "c"].entries()) {
      session.addMessage({ ...user(content), timestamp: `2026-01-0${3 - index}T00:00:00.000Z` });
    }
    expect(session.messages().map((message) => message.content)).toEqual(["a", "b", "c"]);
  });

  it.each<Message["role"]>(["system", "user", "assistant", "tool"])("takes messages from %s", (role) => {
    const session = createMemorySession(ids);
    session.addMessage({ ...user("text"), role });
    expect(session.messages()[0]?.role).toBe(role);
  });

  it("keeps a call and the result that answers it", () => {
    const session = createMemorySession(ids);
    session.addMessage({
      ...user(""),
      role: "assistant",
      toolCalls: [{ id: "c1", name: "f", arguments: "{}" }],
    });
    session.addMessage({ ...user("42"), role: "tool", toolCallId: "c1" });
    const [call, result] = session.messages();
    expect(call?.toolCalls?.[0]?.id).toBe(result?.toolCallId);
  });

  it("does not change when the returned list changes", () => {
    const session = createMemorySession(ids);
    session.addMessage(user("hello"));
    const copy = session.messages();
    copy.push(user("intruder"));
    Object.assign(copy[0] ?? {}, { content: "changed" });
    expect(session.messages()).toEqual([user("hello")]);
  });

  it("does not change when the calls of a returned or an added message change", () => {
    const session = createMemorySession(ids);
    const added: Message = {
      ...user(""),
      role: "assistant",
      toolCalls: [{ id: "c1", name: "f", arguments: "{}" }],
    };
    session.addMessage(added);
    added.toolCalls?.push({ id: "c2", name: "g", arguments: "{}" });
    Object.assign(session.messages()[0]?.toolCalls?.[0] ?? {}, { name: "changed" });
    expect(session.messages()[0]?.toolCalls).toEqual([{ id: "c1", name: "f", arguments: "{}" }]);
  });

  it("is empty after clear and takes new messages", () => {
    const session = createMemorySession(ids);
    session.addMessage(user("old"));
    session.clear();
    expect(session.messages()).toEqual([]);
    session.addMessage(user("new"));
    expect(session.messages()).toEqual([user("new")]);
  });

  it("keeps every message of many callers that add at once", async () => {
    const session = createMemorySession(ids);
    await Promise.all(
      Array.from({ length: 100 }, async (_unused, index) => {
        await Promise.resolve();
        session.addMessage(user(String(index)));
      }),
    );
    expect(new Set(session.messages().map((message) => message.content)).size).toBe(100);
  });

  it("shows whole messages to readers while others add", async () => {
    const session = createMemorySession(ids);
    const reads: Message[][] = [];
    const add = async (): Promise<void> => {
      await Promise.resolve();
      session.addMessage(user("x"));
    };
    const read = async (): Promise<void> => {
      await Promise.resolve();
      reads.push(session.messages());
    };
    await Promise.all(Array.from({ length: 50 }, () => [add(), read()]).flat());
    expect(reads.flat().every((message) => message.content === "x")).toBe(true);
    expect(reads.at(-1)).toHaveLength(50);
  });

  it("ends empty or with later messages only when others add while it is cleared", async () => {
    const session = createMemorySession(ids);
    await Promise.all([
      ...Array.from({ length: 50 }, async () => {
        await Promise.resolve();
        session.addMessage(user("x"));
      }),
      Promise.resolve().then(() => session.clear()),
    ]);
    session.clear();
    expect(session.messages()).toEqual([]);
  });
});
