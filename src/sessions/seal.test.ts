import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_HEAD, leafOf, linkTurn, nextHead, sealOf, textHashOf, unlinkTurn } from "./seal.ts";
import type { TurnBody } from "./turn-record.ts";

const AT = "2026-03-01T09:00:00.000Z";

function bodyOf(content: string, changes: Partial<TurnBody> = {}): TurnBody {
  return {
    v: 1,
    sessionId: "s",
    turn: 1,
    kind: "chat",
    status: "completed",
    deliveryId: "d1",
    textHash: textHashOf(content),
    at: AT,
    messages: [{ role: "user", content, timestamp: AT }],
    reply: {},
    explanation: { requestId: "r1" },
    ...changes,
  };
}

const facts = {
  at: "2026-03-01T09:00:00.000Z",
  owner: "local",
  sessionKey: "cli:main",
  head: "h",
  turns: 2,
  entry: { sessionId: "s", ordinal: 1 },
};

describe("the leaf of a turn", () => {
  it("stays what it is: stored sessions are verified with it", () => {
    expect(leafOf(bodyOf("hello"), "salt")).toBe("iG8At26FQYKV3P7CcKC3ugANwpoRP72j0ruc7AUKHHg");
  });

  it("is 43 characters of base64url", () => {
    expect(leafOf(bodyOf("hello"), "salt")).toMatch(/^[\w-]{43}$/u);
  });

  it("does not depend on the order in which keys were written", () => {
    const body = bodyOf("hello");
    const reversed = Object.fromEntries(Object.entries(body).toReversed()) as TurnBody;
    expect(leafOf(reversed, "salt")).toBe(leafOf(body, "salt"));
  });

  it("differs for the same body under another salt", () => {
    expect(leafOf(bodyOf("hello"), "salt")).not.toBe(leafOf(bodyOf("hello"), "Salt"));
  });

  it("differs for different texts, Unicode form and white space included", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("é", "e\u0301", " é", "a", "a ", ""),
    );
    fc.assert(
      fc.property(text, text, (a, b) => {
        fc.pre(a !== b);
        const textHash = "same";
        expect(leafOf(bodyOf(a, { textHash }), "s")).not.toBe(leafOf(bodyOf(b, { textHash }), "s"));
      }),
    );
  });

  it("cannot be had by moving text from the salt to the body", () => {
    const leaves = new Set([leafOf(bodyOf("ab"), "c"), leafOf(bodyOf("b"), "ca"), leafOf(bodyOf("abc"), "")]);
    expect(leaves.size).toBe(3);
  });
});

describe("the head of a transcript", () => {
  it("depends on the order of the leaves", () => {
    const forth = nextHead(nextHead(EMPTY_HEAD, "a"), "b");
    const back = nextHead(nextHead(EMPTY_HEAD, "b"), "a");
    expect(forth).not.toBe(back);
  });

  it("tells apart where one part ends and the next begins", () => {
    expect(nextHead("ab", "c")).not.toBe(nextHead("a", "bc"));
    expect(nextHead("", "abc")).not.toBe(nextHead("abc", ""));
  });

  it("is no leaf, seal or text hash of the same parts", () => {
    expect(nextHead("", "x")).not.toContain(textHashOf("x"));
  });
});

describe("linking a turn", () => {
  it("gives a record that splits into body and link again", () => {
    const body = bodyOf("hello");
    const record = linkTurn(body, { head: "before", salt: "salt" });
    expect(unlinkTurn(record)).toEqual({
      body,
      salt: "salt",
      leaf: leafOf(body, "salt"),
      head: nextHead("before", leafOf(body, "salt")),
    });
  });

  it("changes neither the body nor the record", () => {
    const body = Object.freeze(bodyOf("hello"));
    const record = Object.freeze(linkTurn(body, { head: EMPTY_HEAD, salt: "s" }));
    expect(unlinkTurn(record).body).toEqual(body);
    expect(body).not.toHaveProperty("leaf");
  });
});

describe("the seal of a session", () => {
  it.each([
    ["owner", { owner: "other" }],
    ["session key", { sessionKey: "cli:other" }],
    ["head", { head: "i" }],
    ["number of turns", { turns: 3 }],
    ["time", { at: "2026-03-01T09:00:00.001Z" }],
    ["entry", { entry: { sessionId: "s", ordinal: 2 } }],
    ["a field added to the entry", { entry: { ...facts.entry, title: "x" } }],
  ])("differs by %s", (_what, change) => {
    expect(sealOf({ ...facts, ...change })).not.toBe(sealOf(facts));
  });

  it("tells owner and session key apart where they meet", () => {
    const one = sealOf({ ...facts, owner: "a", sessionKey: "bc" });
    expect(sealOf({ ...facts, owner: "ab", sessionKey: "c" })).not.toBe(one);
  });

  it("is the same for the same facts in another order of keys", () => {
    expect(sealOf({ ...facts, entry: { ordinal: 1, sessionId: "s" } })).toBe(sealOf(facts));
  });
});

describe("the hash of a delivered text", () => {
  it("has 22 characters of base64url for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(textHashOf(text)).toMatch(/^[\w-]{22}$/u);
      }),
    );
  });

  it("tells texts apart by case, white space and Unicode form", () => {
    const texts = ["a", "A", "a ", " a", "é", "e\u0301", ""];
    expect(new Set(texts.map((text) => textHashOf(text))).size).toBe(texts.length);
  });

  it("tells the same text with other attachments apart, in their order, and is as before without any", () => {
    const picture = (letter: string) => ({
      kind: "image" as const,
      mimeType: "image/png",
      sha256: letter.repeat(64),
      bytes: 1,
    });
    const hashes = [
      textHashOf("x"),
      textHashOf("x", [picture("a")]),
      textHashOf("x", [picture("b")]),
      textHashOf("x", [picture("a"), picture("b")]),
      textHashOf("x", [picture("b"), picture("a")]),
      textHashOf("x", [{ kind: "image", url: "https://example.org/a.png" }]),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(textHashOf("x", [])).toBe(textHashOf("x"));
  });
});
