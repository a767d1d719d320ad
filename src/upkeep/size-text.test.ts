import { describe, expect, it } from "vitest";
import { sizeText } from "./size-text.ts";

describe("a size in words", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [12_345, "12.3 kB"],
    [123_456, "123 kB"],
    [4_000_000_000, "4 GB"],
    [5e15, "5000 TB"],
  ])("is short: %d", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
