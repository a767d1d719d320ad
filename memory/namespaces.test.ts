import { describe, expect, it } from "vitest";
import {
  indexFieldsOf,
  personalityPrefix,
  recordNamespace,
  reviewNamespace,
  taskPrefix,
  taskIndexNamespace,
  tombstoneNamespace,
} from "./namespaces.ts";

describe("the namespaces of memory", () => {
  it("are the ones that the specification suggests", () => {
    const place = { scope: "global", task: null } as const;
    expect(recordNamespace("ada", { ...place, domain: "persona_core" })).toEqual([
      "memory",
      "personality",
      "persona_core",
      "ada",
      "global",
    ]);
    expect(recordNamespace("ada", { domain: "task_memory", task: "lily", scope: "agent:x" })).toEqual([
      "memory",
      "task",
      "task_memory",
      "ada~lily",
      "agent=3Ax",
    ]);
  });

  it("keep owner and task apart, however they are cut", () => {
    const labels = [
      ["a", "b~c"],
      ["a~b", "c"],
      ["a", "b"],
      ["a~", "b"],
      ["", "a~b"],
      ["a", ""],
    ].map(([owner = "", task = ""]) => taskPrefix(owner, task).at(-1));
    expect(new Set(labels).size).toBe(labels.length);
  });

  it("let a search find the text of records and nothing else", () => {
    expect(indexFieldsOf(personalityPrefix("ada", "user_profile"))).toEqual(["text"]);
    expect(indexFieldsOf(taskPrefix("ada", "x"))).toEqual(["text"]);
    expect(indexFieldsOf(reviewNamespace("ada"))).toBe(false);
    expect(indexFieldsOf(tombstoneNamespace("ada"))).toBe(false);
    expect(indexFieldsOf(taskIndexNamespace("ada"))).toBe(false);
    expect(indexFieldsOf(["history", "ada"])).toEqual(["$"]);
  });
});
