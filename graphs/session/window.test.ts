import { AIMessage, HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linkTurn } from "#src/sessions/seal.ts";
import { extendWindow, messagesOf } from "./window.ts";

const AT = "2026-03-01T09:00:00.000Z";

type Window = Parameters<typeof extendWindow>[0];

const entry = (turn: number, characters: number): Window[number] => ({
  turn,
  messageIds: [`u${turn}`, `a${turn}`],
  characters,
});

/** A turn of `characters` characters in two messages. */
const added = (turn: number, characters: number) => ({
  turn,
  messages: [
    new HumanMessage({ id: `u${turn}`, content: "u".repeat(characters) }),
    new AIMessage({ id: `a${turn}`, content: "" }),
  ],
});

const turns = (window: Window): number[] => window.map(({ turn }) => turn);

describe("extending the window", () => {
  it("begins with the first turn and removes nothing", () => {
    expect(extendWindow([], added(1, 10), { windowCharacters: 100 })).toEqual({
      window: [entry(1, 10)],
      changes: [],
    });
  });

  it("keeps turns up to the limit and drops the oldest when it is a character over", () => {
    const before = [entry(1, 40), entry(2, 40)];
    expect(turns(extendWindow(before, added(3, 20), { windowCharacters: 100 }).window)).toEqual([1, 2, 3]);
    expect(turns(extendWindow(before, added(3, 21), { windowCharacters: 100 }).window)).toEqual([2, 3]);
  });

  it("removes all messages of the turns that fell out, and no others", () => {
    const { changes } = extendWindow([entry(1, 60), entry(2, 60), entry(3, 10)], added(4, 50), {
      windowCharacters: 100,
    });
    expect(changes.map(({ id }) => id)).toEqual(["u1", "a1", "u2", "a2"]);
  });

  it("keeps the newest turn even when it is over the limit alone, or the limit is 0", () => {
    expect(turns(extendWindow([entry(1, 1)], added(2, 500), { windowCharacters: 100 }).window)).toEqual([2]);
    expect(turns(extendWindow([entry(1, 1)], added(2, 5), { windowCharacters: 0 }).window)).toEqual([2]);
  });

  it("leaves out a small old turn behind a large one, so that no turn is missing in between", () => {
    expect(
      turns(extendWindow([entry(1, 1), entry(2, 99)], added(3, 10), { windowCharacters: 100 }).window),
    ).toEqual([3]);
  });

  it("counts parts of text, and pictures as nothing", () => {
    const message = new HumanMessage({
      id: "u1",
      content: [
        { type: "text", text: "abc" },
        { type: "image_url", image_url: "data:xxxxxxxxx" },
      ],
    });
    expect(
      extendWindow([], { turn: 1, messages: [message] }, { windowCharacters: 100 }).window[0]?.characters,
    ).toBe(3);
  });

  it("keeps the window that it was given as it was", () => {
    const before = Object.freeze([entry(1, 60)]) as Window;
    extendWindow(before, added(2, 60), { windowCharacters: 100 });
    expect(before).toEqual([entry(1, 60)]);
  });

  it("is always the longest run of newest turns within the limit, and every other turn is removed", () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 10 });
    fc.assert(
      fc.property(
        sizes,
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 200 }),
        (list, size, limit) => {
          const before = list.map((characters, index) => entry(index + 1, characters));
          const newest = list.length + 1;
          const { window, changes } = extendWindow(before, added(newest, size), { windowCharacters: limit });
          const begin = window[0]?.turn ?? 0;
          expect(turns(window)).toEqual(Array.from({ length: window.length }, (_, index) => begin + index));
          expect(window.at(-1)?.turn).toBe(newest);
          const total = window.reduce((sum, { characters }) => sum + characters, 0);
          if (window.length > 1) expect(total).toBeLessThanOrEqual(limit);
          if (begin > 1) expect(total + (list[begin - 2] ?? 0)).toBeGreaterThan(limit);
          expect(changes.map(({ id }) => id)).toEqual(
            before.slice(0, begin - 1).flatMap(({ messageIds }) => messageIds),
          );
        },
      ),
    );
  });
});

describe("the messages of a stored turn", () => {
  const record = linkTurn(
    {
      v: 1,
      sessionId: "s1",
      turn: 7,
      kind: "chat",
      status: "completed",
      deliveryId: "d7",
      textHash: "t",
      at: AT,
      messages: [
        { role: "user", content: "find it", timestamp: AT },
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "c", name: "f", arguments: "{}" }],
          timestamp: AT,
        },
        { role: "tool", content: "it", toolCallId: "c", timestamp: AT },
        { role: "assistant", content: "here", timestamp: AT },
      ],
      reply: {},
      explanation: { requestId: "r" },
    },
    { head: "", salt: "s" },
  );

  it("have the delivery id first and ids derived from the turn after it", () => {
    expect(messagesOf(record).map(({ id }) => id)).toEqual(["d7", "s1:7:1", "s1:7:2", "s1:7:3"]);
  });

  it("are of the same kinds and texts, and the same each time", () => {
    expect(messagesOf(record).map((message) => [message.getType(), message.content])).toEqual([
      ["human", "find it"],
      ["ai", ""],
      ["tool", "it"],
      ["ai", "here"],
    ]);
    expect(messagesOf(record)).toEqual(messagesOf(record));
  });

  it("are none for a turn without messages", () => {
    expect(messagesOf({ ...record, messages: [] })).toEqual([]);
  });

  it("hold a command's whole reply, also where they are made anew (S-2)", () => {
    const envelope = { ok: true, code: "session_list", message: "2 sessions.", next: "/resume 1 reads it." };
    const said = [
      { role: "user" as const, content: "/sessions", timestamp: "" },
      { role: "assistant" as const, content: "2 sessions.", timestamp: "" },
    ];
    const made = messagesOf({ ...record, kind: "command", messages: said, reply: { envelope } });
    expect(made.map(({ text }) => text)).toEqual(["/sessions", "2 sessions.\n\n/resume 1 reads it."]);
  });
});
