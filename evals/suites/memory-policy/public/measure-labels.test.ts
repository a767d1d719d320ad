import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { LABELLED_FILES, readLabelledSets } from "./labelled-texts.ts";
import { labelReport, measureLabels } from "./measure-labels.ts";

const text = (text: string, ...spans: [label: string, value: string][]) => ({
  text,
  spans: spans.map(([label, value]) => ({ label, value })),
});

it("counts what has to be refused, what may pass, and leaves out what the labels do not say", async () => {
  const measure = await measureLabels(
    [
      text("my card is 4111 1111 1111 1111", ["CREDIT_CARD", "4111 1111 1111 1111"]),
      text("a wrong number 4111 1111 1111 1112", ["CREDIT_CARD", "4111 1111 1111 1112"]),
      text("SSN ends in XXX-XX-2409", ["SSN", "XXX-XX-2409"]),
      text("passport of Rae, in words", ["PASSPORT", "12345678"]),
      text("Rae lives in Ghent", ["PERSON", "Rae"], ["GPE", "Ghent"]),
      text("her password is hunter2", ["PERSON", "her"]),
    ],
    async () => [],
  );
  expect(measure).toMatchObject({ toRefuse: 2, refused: 1, toPass: 2, refusedWrongly: 1, unclear: 2 });
  expect(measure.labels).toEqual([
    { label: "CREDIT_CARD", texts: 1, refused: 1, byRule: 1, explained: 1 },
    { label: "PASSPORT", texts: 1, refused: 0, byRule: 0, explained: 0 },
  ]);
  const shown = labelReport({ set: "a set", half: "held-out", measure });
  expect(shown).toContain("1 of 2 refused (recall 0.500)");
  expect(shown).not.toContain("in words");
  expect(labelReport({ set: "a set", half: "tune", measure })).toContain("in words");
});

it("reads both files in halves by even and odd place, and says when one is not there", () => {
  const folder = mkdtempSync(join(tmpdir(), "lily-labels-"));
  try {
    expect(readLabelledSets(folder)).toBeUndefined();
    const [presidio = "", nano = ""] = LABELLED_FILES;
    const write = (file: string, value: unknown) =>
      writeFileSync(join(folder, file), gzipSync(JSON.stringify(value)));
    write(
      presidio,
      ["a", "b", "c"].map((full_text) => ({ full_text, spans: [] })),
    );
    write(nano, [{ text: "d", NER: [{ label: "PID" }], has_pii: true }]);
    const sets = readLabelledSets(folder);
    expect(
      sets?.map(({ tune, heldOut }) => [tune.map((one) => one.text), heldOut.map((one) => one.text)]),
    ).toEqual([
      [["a", "c"], ["b"]],
      [["d"], []],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
