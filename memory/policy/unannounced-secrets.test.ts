import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findUnannounced } from "./unannounced-secrets.ts";

const RANDOM = "q7Rz2Kp9Xv4Lm8Tn3Wb6Yc1D";
const found = (text: string): string[] =>
  findUnannounced(text).map(({ start, end }) => text.slice(start, end));

describe("a value that no word announces", () => {
  it.each([
    ["an issuer's prefix", `abc_${RANDOM}`],
    ["a prefix with what it is for", `xy_live_${RANDOM}`],
    ["a prefix with a version", "zz_v1_9f86d081884c7d659a2feaa0"],
    ["a number and a token", `123456789:AA${RANDOM}${RANDOM.slice(0, 9)}`],
    ["a long random run", `${RANDOM}${RANDOM.slice(0, 12)}`],
    ["an identifier of fixed length", ["AKIA", "JX3K7Q2MZ5TW4RYA"].join("")],
  ])("is found by %s, without the words around it", (_what, value) => {
    expect(found(value)).toEqual([value]);
    expect(found(`use ${value}, please`)).toEqual([value]);
  });

  it.each([
    ["a commit", "9fceb02d0ae598e95dc970b74767f19372d61af8"],
    ["a digest", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    ["a UUID", "b0e1f3a4-9c2d-4e5f-8a7b-1c2d3e4f5a6b"],
    ["a wallet's address", "0xd6eea65bc793e3e899924a833cd81dec9e7eb617"],
    ["an id in an address", `https://docs.example.org/d/${RANDOM}${RANDOM}/edit`],
    ["the beginning of a picture", `iVBORw0KGgoAAAANSUhEUg${RANDOM}`],
    ["words with hyphens", "very-long-repository-name-with-many-words-2026"],
    ["a file name", "Screenshot_2026-03-14-15-42-33-123_com.example.app.png"],
    ["a long word", "Donaudampfschifffahrtsgesellschaftskapitaen"],
  ])("is not %s", (_what, text) => {
    expect(found(text)).toEqual([]);
  });

  it("is found in an address where a parameter gives permission, and nowhere else in it", () => {
    const address = `https://a.example/b?page=2&sig=${RANDOM}&x=${RANDOM}`;
    expect(found(address)).toEqual([RANDOM]);
  });

  it("is looked for in time that grows with the text, whatever it holds", () => {
    const unit = fc.constantFrom("a", "A", "1", "_", "-", ".", ":", "/", "=", " ");
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.join("").repeat(2_000);
        const startedMs = performance.now();
        findUnannounced(text);
        expect(performance.now() - startedMs).toBeLessThan(2_000);
      }),
      { numRuns: 40 },
    );
  });
});
