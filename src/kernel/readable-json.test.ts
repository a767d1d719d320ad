import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readableJson } from "./readable-json.ts";

const loop = () => {
  const value: Record<string, unknown> = { a: 1 };
  value["me"] = value;
  return value;
};

const throwing = () => ({
  a: 1,
  toJSON() {
    throw new Error("no JSON here");
  },
});

const bare = () => Object.assign(Object.create(null) as object, { a: 1 });

const guarded = () =>
  Object.defineProperty({ a: 1 }, "b", {
    enumerable: true,
    get() {
      throw new Error("closed");
    },
  });

describe("the readable text of a value", () => {
  it.each<[string, unknown, string]>([
    ["a string, as it is", 'a "b"\n', 'a "b"\n'],
    ["nothing", undefined, ""],
    ["null", null, "null"],
    ["a number", 1.5, "1.5"],
    ["a plain object", { a: [1, "x", null] }, '{"a":[1,"x",null]}'],
    ["an object that contains itself", loop(), '{"a":1,"me":"[Circular]"}'],
    ["an object whose toJSON throws", throwing(), '{"a":1}'],
    ["an object whose toJSON gives another value", { toJSON: () => ({ b: 2 }) }, '{"b":2}'],
    ["an object without a prototype", bare(), '{"a":1}'],
    ["a field that cannot be read", guarded(), '{"a":1,"b":"[unreadable: closed]"}'],
    ["a field that is undefined, left out", { a: undefined, b: 1 }, '{"b":1}'],
    ["undefined in a list", [undefined], '["[undefined]"]'],
    ["a bigint", { n: 12n }, '{"n":"12"}'],
    ["numbers that are no JSON", [NaN, Infinity], '["NaN","Infinity"]'],
    ["a date", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["no date", new Date(NaN), "[no date]"],
    ["a map", new Map([["k", { v: 1 }]]), '{"Map":[["k",{"v":1}]]}'],
    ["a set", new Set([1, 2]), '{"Set":[1,2]}'],
    ["bytes", { b: new Uint8Array(3) }, '{"b":"[3 bytes]"}'],
    ["an error", new TypeError("wrong"), "TypeError: wrong"],
    ["a function", { f: readableJson }, '{"f":"[function readableJson]"}'],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["an address", new URL("https://example.org/a"), "https://example.org/a"],
  ])("is told for %s", (_what, value, text) => {
    expect(readableJson(value)).toBe(text);
  });

  it("tells a part twice when it stands in two places without containing itself", () => {
    const shared = { a: 1 };
    expect(readableJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  it("finds a loop through maps, lists and toJSON", () => {
    const map = new Map<string, unknown>();
    map.set("me", [map]);
    expect(readableJson(map)).toContain("[Circular]");
    const odd: { toJSON?: unknown } = {};
    odd.toJSON = () => ({ odd });
    expect(readableJson(odd)).toContain("[Circular]");
  });

  it("ends at some depth instead of running out of stack", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(readableJson(deep)).toContain("[a list]");
  });

  it("is JSON's own text for every JSON value, and never throws for any value", () => {
    const shallow = fc.jsonValue({ maxDepth: 5 }).filter((value) => typeof value !== "string");
    fc.assert(
      fc.property(shallow, (value) => {
        expect(JSON.parse(readableJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withMap: true, withNullPrototype: true }), (value) => {
        expect(typeof readableJson(value)).toBe("string");
      }),
    );
  });
});
