import { describe, expect, it } from "vitest";
import { createRunningTurns } from "./limits.ts";

describe("running turns", () => {
  it("are as many as a caller may have, and no more until one ends", () => {
    const turns = createRunningTurns(2);
    const first = turns.begin("a");
    turns.begin("a");
    expect(() => turns.begin("a")).toThrow("2 messages are being answered");
    turns.begin("b");
    first.end();
    // Ending twice frees one place only.
    first.end();
    turns.begin("a");
    expect(() => turns.begin("a")).toThrow("2 messages are being answered");
  });

  it("are idle when none runs, and when the last has ended", async () => {
    const turns = createRunningTurns(2);
    await turns.idle();
    const both = [turns.begin("a"), turns.begin("b")];
    let isIdle = false;
    const idle = turns.idle().then(() => (isIdle = true));
    both[0]?.end();
    await Promise.resolve();
    expect(isIdle).toBe(false);
    both[1]?.end();
    await idle;
    expect(isIdle).toBe(true);
  });

  it("are stopped all at once, with the reason for those that had not begun", () => {
    const turns = createRunningTurns(2);
    const both = [turns.begin("a"), turns.begin("b")];
    expect(both.map(({ stop }) => stop.aborted)).toEqual([false, false]);
    turns.stopAll();
    for (const { stop } of both) expect(stop.reason).toMatchObject({ code: "draining" });
  });
});
