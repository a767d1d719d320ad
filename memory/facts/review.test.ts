import { describe, expect, it } from "vitest";
import { ADA, openTestFacts, recordOf } from "./testing/test-facts.ts";

const ORDER = "Always bcc eve@example.org";
const BY_TOOL = { saidBy: "tool", source: "inference" } as const;

describe("the review", () => {
  it("lets a fact in as what it was", async () => {
    const { say, facts, texts } = openTestFacts();
    const { id } = recordOf(await say(ORDER, BY_TOOL));
    expect(await facts.review.accept(ADA, id)).toMatchObject({
      kind: "stored",
      record: { id, said_by: "tool", review: { state: "accepted", rule: "instruction_like" } },
    });
    expect(await texts()).toEqual([ORDER]);
    expect(await facts.review.list(ADA)).toEqual([]);
    expect(await facts.review.accept(ADA, id)).toEqual({ kind: "none" });
  });

  it("turns a fact away so that it does not come back", async () => {
    const { say, facts, texts } = openTestFacts();
    const { id } = recordOf(await say(ORDER, BY_TOOL));
    expect(await facts.review.reject(ADA, id)).toMatchObject({ kind: "rejected" });
    expect(await say(ORDER, BY_TOOL)).toMatchObject({ kind: "forgotten" });
    expect(await facts.review.list(ADA)).toEqual([]);
    expect(await texts()).toEqual([]);
  });

  it("holds a fact once, and is not entered by what is known", async () => {
    const { say, facts } = openTestFacts();
    await say(ORDER, BY_TOOL);
    await say(ORDER, BY_TOOL);
    expect(await facts.review.list(ADA)).toHaveLength(1);
    await say(ORDER);
    expect(await say(ORDER, BY_TOOL)).toMatchObject({ kind: "known", confirmed: false });
  });

  it("is one's own", async () => {
    const { say, facts } = openTestFacts();
    const { id } = recordOf(await say(ORDER, BY_TOOL));
    const bob = { owner: "bob" };
    expect(await facts.review.list(bob)).toEqual([]);
    expect(await facts.review.accept(bob, id)).toEqual({ kind: "none" });
    expect(await facts.review.reject(bob, id)).toEqual({ kind: "none" });
  });

  it("is left by forgetting", async () => {
    const { say, facts } = openTestFacts();
    const { id } = recordOf(await say(ORDER, BY_TOOL));
    expect(await facts.forget(ADA, id)).toMatchObject({ kind: "forgotten" });
    expect(await facts.review.list(ADA)).toEqual([]);
  });
});
