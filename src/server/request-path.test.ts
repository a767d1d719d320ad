import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathPart, requirePlainTarget } from "./request-path.ts";

describe("a part of a path", () => {
  it("is the text that was encoded, whatever it is, and a URL parser does not change it", () => {
    const text = fc.string({ unit: "binary", minLength: 1 }).filter((key) => key.isWellFormed());
    fc.assert(
      fc.property(text, (key) => {
        fc.pre(key !== "." && key !== "..");
        const target = `/lily/v1/keys/${encodeURIComponent(key)}/messages`;
        requirePlainTarget(target);
        expect(pathPart(new Request(`http://localhost${target}`).url, 3)).toBe(key);
        expect(pathPart(`http://localhost${target}`, 4)).toBe("messages");
      }),
    );
  });

  it.each(["%zz", "%", "%4", "%E0%41", "%C0%AF", "%ff", "a%ED%A0%80"])("is refused as %s", (part) => {
    expect(() => pathPart(`http://localhost/${part}`, 0)).toThrow("not percent-encoded UTF-8");
  });

  it("is decoded once", () => {
    expect(pathPart("http://localhost/%2541", 0)).toBe("%41");
  });
});

describe("a target as it comes over the wire", () => {
  it.each([
    "/a/../b",
    "/a/%2e%2E/b",
    "/a/.%2e",
    "/./a",
    "/a/%2e",
    "/a\\..\\b",
    "/a#b",
    "/é",
    "/a b",
    "http://h/../a",
  ])("is refused as %s", (target) => {
    expect(() => requirePlainTarget(target)).toThrow(/the path/u);
  });

  it.each([
    "/",
    "/a/..b/c.",
    "/a%2F..%2Fb",
    "/...",
    "/a?from=..&to=/../x",
    "http://h/a",
    "/a:b;c=d@e!$&'()*+,~",
  ])("is taken as %s", (target) => {
    expect(() => requirePlainTarget(target)).not.toThrow();
  });
});
