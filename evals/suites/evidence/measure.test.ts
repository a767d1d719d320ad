import { describe, expect, it } from "vitest";
import {
  DOCUMENTS,
  EVIDENCE_STORES,
  isGoodEnough,
  measureEvidence,
  QUESTIONS,
  runEvidenceEval,
} from "./measure.ts";

it("asks for passages that stand in the documents", () => {
  for (const { expected: answer } of QUESTIONS) {
    if (answer === null) continue;
    const document = DOCUMENTS.find(({ id }) => id === answer.document);
    expect(document?.text.replaceAll(/\s+/gu, " ")).toContain(answer.says);
  }
});

describe.each(EVIDENCE_STORES)("on %s", (_name, makeStore) => {
  it("passages are found well enough, and none is given in vain", async () => {
    const measure = await measureEvidence(makeStore());
    expect(measure).toSatisfy(isGoodEnough);
  });
});

it("is printed by store", async () => {
  const lines: string[] = [];
  expect(await runEvidenceEval([], (text) => lines.push(text))).toBe(0);
  expect(lines.join("\n")).toMatch(/SqliteStore .*21/u);
});
