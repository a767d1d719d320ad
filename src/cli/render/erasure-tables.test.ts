import { describe, expect, it } from "vitest";
import { makeReceipt, erased, line } from "#src/erasure/receipt.ts";
import { plainScreen } from "../screen.ts";
import { renderErasurePreview, renderReceipt } from "./erasure-tables.ts";

const screen = plainScreen(60);

describe("a receipt", () => {
  it("has a line for each place, and one for all in which nothing was", () => {
    const lines = [
      erased("memory", 1),
      erased("vectors", 0),
      erased("blobs", 0),
      line("database files", "unfinished", "another program reads them; erase the same again"),
      line("backups", "not_supported", "delete the folders"),
    ];
    const receipt = makeReceipt({ what: "text", at: "2026-03-01T09:00:00.000Z", lines });
    expect(renderReceipt({ receipt }, screen).split("\n")).toEqual([
      "place           became",
      "memory          erased (1)",
      "database files  not finished  another program reads them;",
      "                              erase the same again",
      "backups         not reached   delete the folders",
      "Nothing of it was in: vectors, blobs.",
    ]);
  });
});

describe("a preview", () => {
  const counts = [{ place: "memory", count: 1 }];

  it("of a text shows what would go, of which the message has the counts", () => {
    const records = [{ short: "1a2b3c4d", text: "My neighbour keeps zebrafish" }];
    const shown = renderErasurePreview({ records, turns: [], stays: [], counts }, screen);
    expect(shown).toContain("1a2b3c4d  My neighbour keeps zebrafish");
    expect(shown).not.toContain("place");
  });

  it("of a person shows the counts", () => {
    const shown = renderErasurePreview({ records: [], turns: [], stays: [], counts }, screen);
    expect(shown.split("\n")).toEqual(["place   count", "memory  1"]);
  });
});
