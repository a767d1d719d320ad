import { validateNamespace } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSequentialIds, deriveUuid, encodeLabel, isUuid } from "./ids.ts";

const parts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", ":", "|", "1", "é") }), { maxLength: 4 });

describe("a derived UUID", () => {
  it("is the same each time, on every machine", () => {
    expect(deriveUuid("thread", "local", "cli:main")).toBe(deriveUuid("thread", "local", "cli:main"));
    expect(deriveUuid("a")).toBe("d8ec53d4-eee8-5d96-a0aa-4c679bdb3c0b");
  });

  it("is a lower-case UUID of version 5 for any parts", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (list) => {
        expect(deriveUuid(...list)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u,
        );
      }),
    );
  });

  it("differs when the parts differ, however they are cut or ordered", () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        expect(deriveUuid(...a)).not.toBe(deriveUuid(...b));
      }),
    );
  });

  it.each([
    ["a separator inside a part", ["a:b", "c"], ["a", "b:c"]],
    ["a part that looks like a length prefix", ["1:a|1:b"], ["a", "b"]],
    ["no part and an empty part", [], [""]],
    ["the order", ["a", "b"], ["b", "a"]],
    ["case", ["Key"], ["key"]],
    ["Unicode form", ["é"], ["e\u0301"]],
  ])("differs by %s", (_what, one, other) => {
    expect(deriveUuid(...one)).not.toBe(deriveUuid(...other));
  });
});

describe("the shape of a UUID", () => {
  it.each([
    ["a random one", "0198d3c4-5b6a-4c7d-8e9f-0a1b2c3d4e5f", true],
    ["one ordered by time", "0198d3c4-5b6a-7c7d-8e9f-0a1b2c3d4e5f", true],
    ["upper case", "0198D3C4-5B6A-4C7D-8E9F-0A1B2C3D4E5F", true],
    ["nothing", "", false],
    ["one digit short", "0198d3c4-5b6a-4c7d-8e9f-0a1b2c3d4e5", false],
    ["no hyphens", "0198d3c45b6a4c7d8e9f0a1b2c3d4e5f", false],
    ["braces", "{0198d3c4-5b6a-4c7d-8e9f-0a1b2c3d4e5f}", false],
    ["white space around it", " 0198d3c4-5b6a-4c7d-8e9f-0a1b2c3d4e5f", false],
    ["a line end behind it", "0198d3c4-5b6a-4c7d-8e9f-0a1b2c3d4e5f\n", false],
    ["digits of another script", "٠198d3c4-5b6a-4c7d-8e9f-0a1b2c3d4e5f", false],
  ])("is told for %s", (_what, text, is) => {
    expect(isUuid(text)).toBe(is);
  });
});

describe("sequential ids", () => {
  it("are the same for the same seed", () => {
    const [one, other] = [createSequentialIds(3), createSequentialIds(3)];
    expect([one.uuid(), one.salt(), one.uuid()]).toEqual([other.uuid(), other.salt(), other.uuid()]);
  });

  it("are UUIDs that do not repeat", () => {
    const ids = createSequentialIds();
    const made = Array.from({ length: 300 }, () => ids.uuid());
    expect(made.every(isUuid)).toBe(true);
    expect(new Set(made).size).toBe(300);
  });

  it("differ between seeds", () => {
    const made = [1, 2, 11].flatMap((seed) => {
      const ids = createSequentialIds(seed);
      return Array.from({ length: 20 }, () => ids.uuid());
    });
    expect(new Set(made).size).toBe(60);
  });

  it("have salts of at least 22 characters of base64url", () => {
    expect(createSequentialIds().salt()).toMatch(/^[\w-]{22,}$/u);
  });
});

const id = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(".", ":", "=", "%", "_", "3", "D", "a", "A", " ") }),
);

describe("a namespace label", () => {
  it.each([
    ["letters, digits and hyphens", "Abc-019", "Abc-019"],
    ["Unicode beyond ASCII", "ключ-鍵-😀", "ключ-鍵-😀"],
    ["a colon", "cli:main", "cli=3Amain"],
    ["a full stop", "a.b", "a=2Eb"],
    ["wildcards", "%_", "=25=5F"],
    ["the escape itself", "=3A", "=3D3A"],
    ["a space", "a b", "a=20b"],
    ["control characters", "\u0000\n\u007f\u009f", "=00=0A=7F=9F"],
    ["nothing", "", "="],
  ])("is what is promised for %s", (_what, text, label) => {
    expect(encodeLabel(text)).toBe(label);
  });

  it("is different for different ids", () => {
    fc.assert(
      fc.property(id, id, (a, b) => {
        fc.pre(a !== b);
        expect(encodeLabel(a)).not.toBe(encodeLabel(b));
      }),
    );
  });

  it("reads back as the id", () => {
    const decode = (label: string): string =>
      label === "="
        ? ""
        : label.replaceAll(/=([0-9A-F]{2})/gu, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    fc.assert(
      fc.property(id, (text) => {
        expect(decode(encodeLabel(text))).toBe(text);
      }),
    );
  });

  it("is never empty, and no store gives any part of it a meaning", () => {
    fc.assert(
      fc.property(id, (text) => {
        const label = encodeLabel(text);
        expect(label).not.toBe("");
        // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
        expect(label).not.toMatch(/[\u0000-\u0020.:%_/\\"'*?\u007f-\u009f]/u);
        expect(() => validateNamespace(["sessions", label])).not.toThrow();
      }),
    );
  });

  it("keeps case and Unicode form", () => {
    expect(encodeLabel("Key")).not.toBe(encodeLabel("key"));
    expect(encodeLabel("é")).not.toBe(encodeLabel("e\u0301"));
  });

  it("takes an id named like a property of every object", () => {
    expect(encodeLabel("__proto__")).toBe("=5F=5Fproto=5F=5F");
  });
});
