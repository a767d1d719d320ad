import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hunt } from "./hunt.ts";

const TEXT = "I keep 7 bees in Ghent";
const WANTED = { text: TEXT, words: ["bees", "ghent"] };

function folderWith(bytes: Buffer | string): string {
  const folder = mkdtempSync(join(tmpdir(), "lily-hunt-"));
  mkdirSync(join(folder, "deep"));
  writeFileSync(join(folder, "deep", "file"), bytes);
  return folder;
}

const escaped = Array.from(TEXT, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

describe("the hunt", () => {
  it.each<[string, Buffer | string]>([
    ["as it is", `\u0000\u0001${TEXT}\u0000`],
    ["in another case, broken into lines", "i KEEP\n7 bees,\nin Ghent"],
    ["as UTF-16", Buffer.from(TEXT, "utf16le")],
    ["as UTF-16 at an odd place", Buffer.concat([Buffer.from([1]), Buffer.from(TEXT, "utf16le")])],
    ["as UTF-16 of the other order", Buffer.from(TEXT, "utf16le").swap16()],
    ["as JSON escapes", `{"a":"${escaped}"}`],
    ["as JSON escapes in JSON", JSON.stringify(`{"a":"${escaped}"}`)],
    ["as base64", `{"b":"${Buffer.from(TEXT).toString("base64")}"}`],
    ["as base64 of UTF-16 behind other text", `xy${Buffer.from(TEXT, "utf16le").toString("base64")}`],
    ["as hexadecimal digits", Buffer.from(TEXT).toString("hex")],
    ["in its words alone", "Ghent is where the bees are"],
  ])("finds a text %s", (_how, bytes) => {
    expect(hunt(folderWith(bytes), WANTED).map(({ file }) => file)).toContain(join("deep", "file"));
  });

  it("finds nothing where there is nothing", () => {
    expect(hunt(folderWith(`bees ${"x ".repeat(400)} Ghent`), WANTED)).toEqual([]);
  });
});
