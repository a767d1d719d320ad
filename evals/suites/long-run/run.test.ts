import { describe, expect, it } from "vitest";
import { longRun, longRunFaults, longRunReport } from "./run.ts";

describe("a long conversation in a small context", () => {
  it.each(["built-in", "model"] as const)(
    "never goes over its budget, loses nothing that was planted and stays flat, with summaries by %s",
    async (summaries) => {
      const result = await longRun({ turns: 30, contextTokens: 3_000, resultCharacters: 60_000, summaries });
      expect(longRunFaults(result)).toEqual([]);
      expect(result.summaryCalls > 0).toBe(summaries === "model");
      expect(longRunReport(result)).toContain("prompts over time");
    },
  );
});
