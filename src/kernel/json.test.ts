import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLilyError } from "./errors.ts";
import { assertJson, canonicalJson, stringsIn, toStorableText, toStorableValue } from "./json.ts";

/** Code and message of what `assertJson` throws. */
function refusal(value: unknown): { code: string; message: string } | undefined {
  try {
    assertJson(value);
    return undefined;
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const jsonText = fc.string({ unit: "grapheme" });
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

class Point {
  readonly x = 1;
}

describe("asserting JSON", () => {
  it("takes every value that JSON gives back", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(refusal(value)).toBeUndefined();
      }),
    );
  });

  it("takes an object without a prototype, and undefined as an absent key", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1, b: undefined });
    expect(refusal(bare)).toBeUndefined();
  });

  it("takes the same object twice when it does not contain itself", () => {
    const shared = { a: 1 };
    expect(refusal([shared, { shared }])).toBeUndefined();
  });

  it.each<[string, unknown, string]>([
    ["undefined", undefined, "is undefined"],
    ["a function", () => 1, "is function"],
    ["a symbol", Symbol("s"), "is symbol"],
    ["a bigint", 1n, "is bigint"],
    ["NaN", NaN, "is NaN"],
    ["Infinity", Infinity, "is Infinity"],
    ["-Infinity", -Infinity, "is -Infinity"],
    ["-0", -0, "is -0"],
    ["a date", new Date(0), "is a Date"],
    ["a map", new Map(), "is a Map"],
    ["a set", new Set(), "is a Set"],
    ["bytes", new Uint8Array(2), "is a Uint8Array"],
    ["a buffer", Buffer.from("x"), "is a Buffer"],
    ["a class instance", new Point(), "is a Point"],
    ["a boxed string", Object("x"), "is a String"],
    ["a regular expression", /x/u, "is a RegExp"],
    ["an error", new Error("x"), "is a Error"],
    ["a list of a class of its own", new (class Names extends Array {})(), "is a Names"],
    [
      "an instance of a class without a name",
      new (class {
        readonly x = 1;
      })(),
      "is a class instance",
    ],
    ["a symbol as a key", { [Symbol("s")]: 1 }, "has a symbol as a key"],
    ["a list with a named entry", Object.assign([1], { x: 1 }), "is an array with named entries"],
    ["half of a surrogate pair", "a\ud800", "holds half of a surrogate pair"],
  ])("refuses %s and says where it is", (_what, value, problem) => {
    expect(refusal([{ inner: [value] }])).toMatchObject({ code: "value_not_json" });
    if (value !== undefined) expect(refusal({ inner: value })?.message).toContain(`$.inner ${problem}`);
    expect(refusal([0, value])?.message).toContain("$[1]");
    expect(refusal(value)?.message).toContain(problem);
  });

  it("refuses a hole in an array", () => {
    expect(refusal(Array(2))?.message).toContain("$[0] is undefined");
  });

  it("refuses a hole that a named entry would hide by the count", () => {
    // oxlint-disable-next-line no-sparse-arrays -- the hole is what is tested
    expect(refusal(Object.assign([1, , 2], { x: 1 }))?.code).toBe("value_not_json");
  });

  it("refuses a value that says by itself what its JSON is", () => {
    expect(refusal({ at: { toJSON: () => "x" } })?.message).toContain("$.at.toJSON is function");
  });

  it("names a key that is no word in brackets", () => {
    expect(refusal({ "a.b": { "": [NaN] } })?.message).toContain('$["a.b"][""][0] is NaN');
  });

  it("refuses half of a surrogate pair in a key", () => {
    expect(refusal({ a: { "\udc00": 1 } })?.message).toContain("$.a key holds half");
  });

  it("refuses a value that contains itself, at any depth", () => {
    const loop: { inner: { back?: unknown } } = { inner: {} };
    loop.inner.back = loop;
    expect(refusal(loop)?.message).toContain("$.inner.back contains itself");
    const list: unknown[] = [];
    list.push(list);
    expect(refusal(list)?.message).toContain("$[0] contains itself");
  });

  it("takes 100 levels and refuses very deep nesting without running out of stack", () => {
    expect(refusal(nested(100))).toBeUndefined();
    expect(refusal(nested(102))?.message).toContain("nested more than 100 levels");
    expect(refusal(nested(100_000))?.code).toBe("value_not_json");
  });
});

describe("canonical JSON", () => {
  it("sorts keys by code unit at every level and writes no white space", () => {
    expect(canonicalJson({ b: [{ z: 1, Z: 2 }], a: null, ä: true })).toBe(
      '{"a":null,"b":[{"Z":2,"z":1}],"ä":true}',
    );
  });

  it("keeps the order of arrays", () => {
    expect(canonicalJson([3, 1, 2])).toBe("[3,1,2]");
  });

  it("leaves undefined keys out", () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe(canonicalJson({ b: 1 }));
  });

  it("keeps a key named __proto__", () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
  });

  it("gives equal text for equal values, whatever the order of their keys", () => {
    const entries = fc.uniqueArray(fc.tuple(jsonText, json), { selector: ([key]) => key });
    fc.assert(
      fc.property(entries, (list) => {
        const forth = Object.fromEntries(list);
        const back = Object.fromEntries(list.toReversed());
        expect(canonicalJson(forth)).toBe(canonicalJson(back));
      }),
    );
  });

  it("reads back as the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });

  it("gives different text for different values", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        try {
          expect(a).not.toEqual(b);
        } catch {
          return;
        }
        expect(canonicalJson(a)).not.toBe(canonicalJson(b));
      }),
    );
  });

  it.each([
    ["a number and its text", 1, "1"],
    ["null and its text", null, "null"],
    ["an empty list and an empty object", [], {}],
    ["a list and an object with its indexes", ["a"], { 0: "a" }],
    ["composed and decomposed accents", "é", "e\u0301"],
  ])("tells %s apart", (_what, a, b) => {
    expect(canonicalJson(a)).not.toBe(canonicalJson(b));
  });
});

describe("storable text", () => {
  it("replaces halves of surrogate pairs and NUL, and nothing else", () => {
    expect(toStorableText("a\ud800b\udc00c\u0000d😀\u0001")).toBe("a\ufffdb\ufffdc\u2400d😀\u0001");
  });

  it("is JSON without NUL for any text, as long as before, and the same when done twice", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((n) => String.fromCharCode(n)) }),
        (text) => {
          const stored = toStorableText(text);
          expect(refusal(stored)).toBeUndefined();
          expect(stored).not.toContain("\u0000");
          expect(stored).toHaveLength(text.length);
          expect(toStorableText(stored)).toBe(stored);
        },
      ),
    );
  });
});

describe("a storable value", () => {
  it("has storable text everywhere, also in keys, and nothing else changed", () => {
    const value = { "k\ud800": ["a\udc00", { b: "\u0000" }, 1, true, null], plain: "x" };
    expect(toStorableValue(value)).toEqual({
      "k\ufffd": ["a\ufffd", { b: "\u2400" }, 1, true, null],
      plain: "x",
    });
  });

  it("keeps an own key named __proto__ without changing a prototype", () => {
    const cleaned = toStorableValue(JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(JSON.stringify(cleaned)).toBe('{"__proto__":{"polluted":true}}');
    expect({}).not.toHaveProperty("polluted");
  });
});

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
