import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { ContextWindows } from "./context-windows.ts";

const unlimited = { limit: 10_000_000 };

describe("the budget of a model", () => {
  it.each([
    ["openai:gpt-4", 8_192],
    ["openai:gpt-4o-mini", 128_000],
    ["openai:openai/gpt-4.1-mini", 1_000_000],
    ["openai:llama3.1:8b", 128_000],
    ["openai:llama3:8b", 8_192],
    ["openai:meta-llama/Llama-3.3-70B-Instruct", 128_000],
    ["openai:anthropic/claude-sonnet-4", 200_000],
  ])("of %s is its window of %i less what its answer needs", (reference, window) => {
    expect(new ContextWindows(createManualClock(0)).budgetOf(reference, unlimited)).toBe(
      Math.floor(window - Math.min(4_096, window / 4)),
    );
  });

  it("is what is configured: a limit for all, a window for one, and the smaller of both", () => {
    const windows = new ContextWindows(createManualClock(0));
    expect(windows.budgetOf("openai:unheard-of", { limit: 12_000 })).toBe(12_000);
    expect(windows.budgetOf("openai:gpt-4o", { limit: 12_000, window: 4_000 })).toBe(3_000);
    expect(windows.budgetOf("openai:gpt-4o", { limit: 2_000, window: 4_000 })).toBe(2_000);
  });

  it("is less where its server counts more tokens than are estimated, and never more", () => {
    const windows = new ContextWindows(createManualClock(0));
    windows.count("openai:a", { estimated: 1_000, counted: 1_500 });
    expect(windows.budgetOf("openai:a", { limit: 12_000 })).toBe(8_000);
    expect(windows.budgetOf("openai:b", { limit: 12_000 })).toBe(12_000);
    windows.count("openai:b", { estimated: 1_000, counted: 200 });
    windows.count("openai:b", { estimated: 20, counted: 90 });
    expect(windows.budgetOf("openai:b", { limit: 12_000 })).toBe(12_000);
  });

  it("is at most half of what its server has refused as too long, for ten minutes after the last refusal", () => {
    const clock = createManualClock(0);
    const windows = new ContextWindows(clock);
    const budget = (): number => windows.budgetOf("openai:a", { limit: 12_000 });
    windows.tooLong("openai:a", 10_000);
    expect(budget()).toBe(5_000);
    clock.advance(599_999);
    windows.tooLong("openai:a", 4_000);
    clock.advance(599_999);
    expect(budget()).toBe(2_000);
    clock.advance(1);
    expect(budget()).toBe(12_000);
  });
});
