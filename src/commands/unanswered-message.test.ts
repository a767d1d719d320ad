import { describe, expect, it } from "vitest";
import { unansweredText, type UnansweredMessage } from "./unanswered-message.ts";

const message: UnansweredMessage = {
  deliveryId: "d",
  text: "how are you",
  at: "2026-03-01T08:12:30.000Z",
  state: "nothing",
};
const on = (instant: string) => ({ timeZone: "Europe/Berlin", nowMs: Date.parse(instant) });

describe("a message that was not answered", () => {
  it("is told with its time where the person is, and with its date on another day", () => {
    expect(unansweredText(message, on("2026-03-01T20:00:00.000Z"))).toBe(
      "The message “how are you” of 09:12 was not answered: the program ended. Send it again.",
    );
    expect(unansweredText(message, on("2026-03-02T20:00:00.000Z"))).toContain("of 2026-03-01 09:12 was");
  });

  it("is told as one short line, whatever it says", () => {
    const text = `first\n\n  line ${"😀".repeat(100)}`;
    const told = unansweredText({ ...message, text }, on("2026-03-01T20:00:00.000Z"));
    expect(told).toMatch(/^The message “first line 😀+…” of 09:12/u);
    expect(told.length).toBeLessThan(160);
    expect(told.isWellFormed()).toBe(true);
  });

  it("says that tools are not run again, or that one waits for a person", () => {
    const at = on("2026-03-01T20:00:00.000Z");
    expect(unansweredText({ ...message, state: "begun" }, at)).toContain("is not done again");
    expect(unansweredText({ ...message, state: "waits" }, at)).toContain("counts as not approved");
  });
});
