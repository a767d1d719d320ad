import { describe, expect, it } from "vitest";
import { systemClock } from "./system.ts";

describe("the machine's clock", () => {
  it.each([{}, { LILY_NOW: "" }, { LILY_NOW: " " }])("is not moved by %j", (env) => {
    expect(Math.abs(systemClock(env).now() - Date.now())).toBeLessThan(60_000);
  });

  it("begins at LILY_NOW and goes on from there", () => {
    const wanted = Date.parse("2026-03-01T09:00:00Z");
    expect(systemClock({ LILY_NOW: "2026-03-01T09:00:00Z" }).now() - wanted).toBeLessThan(60_000);
  });

  it("refuses a LILY_NOW that is no instant, instead of using another time without a word", () => {
    expect(() => systemClock({ LILY_NOW: "garbage" })).toThrow(
      expect.objectContaining({ code: "config_invalid" }),
    );
  });
});
