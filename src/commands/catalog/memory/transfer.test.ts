import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import { parseMemoryFile } from "./transfer.ts";

const HEADER = { format: "lily-memory", version: 1, exported_at: "2026-01-01T00:00:00.000Z" };

function refusalOf(text: string): { message: string; next: string | undefined } {
  try {
    parseMemoryFile(text, "facts.json");
  } catch (error) {
    if (isLilyError(error)) return { message: error.message, next: error.next };
    throw error;
  }
  throw new Error("it was read");
}

describe("a memory file", () => {
  it("is read with its records as they are", () => {
    expect(parseMemoryFile(JSON.stringify({ ...HEADER, records: [1] }), "facts.json").records).toEqual([1]);
  });

  it.each([
    ["an empty one", " \n", "facts.json is empty"],
    ["a table", "id,text\n1,tea", "facts.json is no JSON"],
    [
      "half of one",
      JSON.stringify({ ...HEADER, records: [] }).slice(0, 30),
      "facts.json is no whole JSON; a part of it may be missing",
    ],
    ["a list", "[]", "facts.json is JSON, but no memory file of Lily"],
    ["records alone", '{"records":[]}', "facts.json is JSON, but no memory file of Lily"],
    [
      "one without records",
      JSON.stringify(HEADER),
      "facts.json is a damaged memory file: records cannot be read",
    ],
  ])("is told apart from %s", (_name, text, message) => {
    expect(refusalOf(text)).toEqual({
      message,
      next: "Give a file that /memory export wrote. Nothing was changed.",
    });
  });

  it("of a newer Lily is refused with what to do", () => {
    expect(refusalOf(JSON.stringify({ ...HEADER, version: 2, records: {} }))).toEqual({
      message: "facts.json was written by a newer Lily: version 2 of the file, and this one reads version 1",
      next: "Update Lily, and import it again. Nothing was changed.",
    });
  });
});
