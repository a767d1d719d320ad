import { validateNamespace } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeLabel } from "./namespace-label.ts";

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
