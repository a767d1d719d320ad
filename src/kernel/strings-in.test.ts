import { describe, expect, it } from "vitest";
import { stringsIn } from "./strings-in.ts";

describe("the strings in a value", () => {
  it("are its texts and the names of its fields, wherever they stand", () => {
    expect(stringsIn({ a: "one", b: [2, null, { c: "three" }] })).toEqual(["a", "one", "b", "c", "three"]);
  });

  it("are also those of JSON in a text, without its escapes", () => {
    expect(stringsIn('{"a":"\\u0066our"}')).toEqual(['{"a":"\\u0066our"}', "a", "four"]);
    expect(stringsIn("{ not JSON")).toEqual(["{ not JSON"]);
  });

  it("end at a depth that nothing of ours has", () => {
    let deep: unknown = "deep";
    for (let level = 0; level < 1_000; level += 1) deep = [deep];
    expect(stringsIn(deep)).toEqual([]);
  });
});
