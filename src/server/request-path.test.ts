import { describe, expect, it } from "vitest";
import { requirePlainTarget } from "./request-path.ts";

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
