import { describe, expect, it } from "vitest";
import { openTestFacts } from "#memory/facts/testing/test-facts.ts";
import type { MadialData, PrecisionData } from "./data.ts";
import { measureMadial } from "./madial.ts";
import { measurePrecision } from "./precision.ts";

const belief = (_id: string, content: string, more: Partial<PrecisionData["beliefs.seed"][number]> = {}) => ({
  _id,
  content,
  user_id: "test-user",
  scope: ["domain:code"],
  superseded_by: null,
  canonical_name: "",
  aliases: [],
  why_it_matters: "",
  pinned: false,
  ...more,
});

const asked = (query: string, mustInclude: string[], scope = ["domain:code"]) => ({
  caseId: query,
  query,
  scope,
  expect: { relevantBeliefs: { mustInclude } },
});

describe("what is kept apart", () => {
  it("is measured: nothing leaks, and what is wanted is found", async () => {
    const data: PrecisionData = {
      "beliefs.seed": [
        belief("now", "Lints with Biome"),
        belief("old", "Lints with ESLint", { superseded_by: "now" }),
        belief("novel", "Redis is a pianist in the novel", { scope: ["domain:writing"] }),
        belief("other", "Lints with hlint", { user_id: "other-user" }),
        belief("me", "Reads about linting", { scope: ["user:universal"] }),
      ],
      "retrieval.cases": [
        asked("what lints the code?", ["now", "me"]),
        asked("who is Redis?", ["novel"], ["domain:writing"]),
        asked("what is Redis?", []),
      ],
    };
    const { facts } = openTestFacts();
    const measure = await measurePrecision(facts, data, async (who, { query, task }) => {
      const { relevant } = await facts.recall(who, {
        query,
        limit: 12,
        ...(task === undefined ? {} : { task }),
      });
      return relevant;
    });
    expect(measure).toMatchObject({
      recall: 1,
      wronglyReplaced: 0,
      leaks: { replaced: 0, otherTask: 0, otherPerson: 0 },
    });
  });
});

describe("what of the past belongs to a turn", () => {
  it("is measured by its place among what is found of the child", async () => {
    const memory = (event: string) => ({ time: "2024-01-01", event });
    const data: MadialData = {
      memories: [
        {
          "1": memory("Bart danced at the party"),
          "2": memory("Bart ate mango ice cream"),
          "3": memory("Lisa danced too"),
        },
      ],
      dialogues: [
        {
          dialogue: [
            "<BOD>\n",
            '<Bart>: "I shall dance at the party!"\n',
            '<Assistant>: "Do you remember?"\n',
          ],
          "test-turn": [2],
          "relevant-id": [1, 2],
          "user-id": 1,
        },
      ],
    };
    expect(await measureMadial(openTestFacts().facts, data)).toMatchObject({
      memories: 3,
      turns: 1,
      wronglyReplaced: 0,
      recall: { 1: 0.5, 20: 0.5 },
    });
  });
});
