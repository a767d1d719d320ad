import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanHidden } from "./hidden-text.ts";

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
