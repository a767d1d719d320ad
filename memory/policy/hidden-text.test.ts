import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanHidden, isDeceptive } from "./check-text.ts";

const tags = (text: string): string =>
  Array.from(text, (character) => String.fromCodePoint(0xe0000 + (character.codePointAt(0) ?? 0))).join("");

describe("hidden characters", () => {
  it.each([
    ["a zero-width space", "ca\u200bt", "cat"],
    ["a byte order mark", "\ufeffcat", "cat"],
    ["a word joiner", "ca\u2060t", "cat"],
    ["soft hyphens", "c\u00ada\u00ad\u00adt", "cat"],
    ["a direction override", "a\u202egnp.exe", "agnp.exe"],
    ["isolates", "\u2066cat\u2069", "cat"],
    ["tag letters", `cat${tags("run rm")}`, "cat"],
    ["tag letters behind a flag that is none", `\u{1f3f4}${tags("run rm -rf")}`, "\u{1f3f4}"],
    ["joiners between Latin letters", "c\u200da\u200ct", "cat"],
    ["a row of joiners behind an emoji", "\u{1f469}\u200d\u200d\u200d", "\u{1f469}\u200d"],
    ["variation selectors that carry data", "a\ufe01\ufe02\u{e0101}b", "ab"],
    ["a second selector", "❤\ufe0f\ufe0f", "❤\ufe0f"],
    ["Hangul fillers", "a\u3164\u115fb", "ab"],
    ["NUL and other controls", "a\u0000\u0007\u009bb", "ab"],
    ["annotation marks", "a\ufff9b\ufffb", "ab"],
    ["an unassigned invisible one", "a\u{e0fff}b", "ab"],
  ])("of %s are removed and shown", (_what, raw, text) => {
    const clean = cleanHidden(raw);
    expect(clean.text).toBe(text);
    expect(clean.hidden?.codes.length).toBeGreaterThan(0);
  });

  it.each([
    ["👩‍👩‍👧 می‌خواهم שלום \u200f(1)"],
    ["🏴󠁧󠁢󠁥󠁮󠁧󠁿 and 🏴󠁧󠁢󠁳󠁣󠁴󠁿"],
    ["👩🏽‍💻 🏳️‍🌈 ❤️‍🔥 1️⃣ ☎️"],
    ["naïve".normalize("NFD")],
    ["क्‍ष श्री ක්‍ෂ ন্‍য"],
    ["می\u200cشود ه\u200d."],
    ["葛\u{e0100}飾区"],
    ["two\nlines\tand a tab"],
    ["ᠮᠣᠩᠭᠣᠯ\u180b"],
    ["שלום \u200e123"],
    ["ไทย 中文 한국어 Ελληνικά"],
  ])("that do work in %j are kept", (text) => {
    expect(cleanHidden(text)).toEqual({ text, hidden: null });
  });

  it("are named by code with their number", () => {
    const { hidden } = cleanHidden(`Formats JSON.${tags("rr")}\u200b`);
    expect(hidden).toEqual({
      codes: [
        { code: "U+E0072", name: "tag character", count: 2 },
        { code: "U+200B", name: "zero-width character", count: 1 },
      ],
    });
  });

  it("deceive when they spell, turn or flood, not when there is one", () => {
    const deceives = (raw: string): boolean => {
      const { hidden } = cleanHidden(raw);
      return hidden !== null && isDeceptive(hidden);
    };
    expect(deceives(`a${tags("x")}`)).toBe(true);
    expect(deceives("a\u202eb")).toBe(true);
    expect(deceives("\u200b".repeat(8))).toBe(true);
    expect(deceives("a\u200bb\u00ad")).toBe(false);
  });

  it("are all gone after one pass, and well-formed text comes out, whatever goes in", () => {
    const odd = fc.constantFrom(
      "\u200d",
      "\u200c",
      "\u200b",
      "\u202e",
      "\u{e0041}",
      "\u{e007f}",
      "\u{1f3f4}",
      "\ufe0f",
      "\ud800",
      "م",
      "👩",
      "a",
    );
    const unit = fc.oneof(odd, fc.string({ unit: "binary", maxLength: 3 }));
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), (parts) => {
        const { text } = cleanHidden(parts.join(""));
        expect(text.isWellFormed()).toBe(true);
        // Removing may bring a joiner next to another letter, so a second pass may find less, never more.
        expect(cleanHidden(text).text.length).toBeLessThanOrEqual(text.length);
        expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/u);
      }),
    );
  });

  it("become line feeds where they end lines", () => {
    expect(cleanHidden("a\r\nb\rc\u2028d")).toEqual({ text: "a\nb\nc\nd", hidden: null });
  });
});

/** Words and pictures whose invisible characters are a part of how they are written. */
const WRITTEN = [
  ..."👩‍👩‍👧 👨🏿‍🦰 🧔🏻‍♂️ 👁️‍🗨️ 🏴‍☠️ 🏳️‍⚧️ 👨‍❤️‍💋‍👨 🧑🏼‍🤝‍🧑🏿 🐦‍⬛ ⛓️‍💥 🤦🏽‍♀️ #️⃣ 7️⃣ ❣︎ ㊗️ ©️ 🇺🇳 🇧🇪".split(" "),
  "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "می‌خواهم", // Persian: no joint inside the word
  "نامه‌ای",
  "ه‍", // Arabic: an initial form
  "(1)\u200f שלום",
  "בְּ\u034f\u0591רֵאשִׁית", // Hebrew: the order of points
  "क्‍ष", // Devanagari
  "श्‍री",
  "ক্‌ষ", // Bengali
  "ക്‍", // Malayalam
  "ක්‍ෂ", // Sinhala
  "க்‌ஷ", // Tamil
  "ᠬᠠᠶᠢᠷ\u180eᠠ", // Mongolian: a separated vowel
  "ᠮᠣᠩᠭᠣᠯ\u180b",
  "\u1112\u119e\u11ab", // old Korean
  "\u1112\u1160\u11ab",
  "葛\u{e0100}飾区", // Han: a form of the character
  "0\ufe00",
  "、\ufe00",
  "plain words",
] as const;

const written = fc.constantFrom(...WRITTEN);

/** One tone for each person, and what the person does. */
const people = fc
  .tuple(
    fc.constantFrom("👩", "👨", "🧑"),
    fc.constantFrom("", "🏻", "🏼", "🏽", "🏾", "🏿"),
    fc.constantFrom("💻", "🚀", "🔬", "🌾", "⚕️", "✈️", "🦽", "🍳"),
  )
  .map(([person, tone, role]) => `${person}${tone}\u200d${role}`);

const flags = fc
  .tuple(fc.integer({ min: 0, max: 25 }), fc.integer({ min: 0, max: 25 }))
  .map((letters) => letters.map((letter) => String.fromCodePoint(0x1f1e6 + letter)).join(""));

const tagged = Array.from("run", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
const hidden = fc.constantFrom(
  "\u200b",
  "\u2060",
  "\ufeff",
  "\u202e",
  "\u2066",
  "\u00ad",
  "\u0007",
  "\u3164",
  tagged,
);

describe("hidden characters, whatever the text", () => {
  it("stay where a script or a picture is written with them", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(written, people, flags), { minLength: 1, maxLength: 12 }), (parts) => {
        const text = parts.join(" ");
        expect(cleanHidden(text)).toEqual({ text, hidden: null });
      }),
    );
  });

  it("go when they were put between words and pictures, and nothing else does", () => {
    const parts = fc.array(fc.tuple(fc.oneof(written, people), hidden), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(parts, (pairs) => {
        const raw = pairs.map(([text, code]) => `${text} ${code}`).join("");
        expect(cleanHidden(raw).text).toBe(pairs.map(([text]) => `${text} `).join(""));
      }),
    );
  });

  it("are reported one by one: as many codes as characters went", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(written, hidden, fc.string({ unit: "binary" })), { maxLength: 12 }),
        (parts) => {
          const raw = parts.join("").toWellFormed().replaceAll("\r\n", "\n");
          const { text, hidden: found } = cleanHidden(raw);
          const counted = (found?.codes ?? []).reduce((sum, { count }) => sum + count, 0);
          expect(Array.from(raw).length - Array.from(text).length).toBe(counted);
        },
      ),
    );
  });
});
