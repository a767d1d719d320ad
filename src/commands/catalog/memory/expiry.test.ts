import { describe, expect, it } from "vitest";
import { parseExpiry } from "./expiry.ts";

const nowMs = Date.parse("2026-03-01T09:00:00.000Z");
const expiry = (text: string, timeZone = "UTC") => parseExpiry(text, { nowMs, timeZone });

describe("an expiry", () => {
  it.each([
    ["90m", "2026-03-01T10:30:00.000Z"],
    ["12h", "2026-03-01T21:00:00.000Z"],
    ["30d", "2026-03-31T09:00:00.000Z"],
    ["2 weeks", "2026-03-15T09:00:00.000Z"],
    ["2026-03-01", "2026-03-02T00:00:00.000Z"],
    ["2026-12-31T10:00Z", "2026-12-31T10:00:00.000Z"],
    ["2026-12-31T10:00:00+02:00", "2026-12-31T08:00:00.000Z"],
  ])("may be written %s", (text, instant) => {
    expect(expiry(text)).toBe(instant);
  });

  it.each([
    ["Pacific/Kiritimati", "2026-06-10T10:00:00.000Z"],
    ["Pacific/Pago_Pago", "2026-06-11T11:00:00.000Z"],
    ["Europe/Paris", "2026-06-10T22:00:00.000Z"],
  ])("that is a date ends with that day in %s", (timeZone, instant) => {
    expect(expiry("2026-06-10", timeZone)).toBe(instant);
  });

  it.each([
    "",
    "soon",
    "3",
    "-3d",
    "0d",
    "2026-02-31",
    "2026-02-28",
    "2025-01-01T00:00Z",
    "900y",
    "5 bananas",
  ])("is not %j", (text) => {
    expect(expiry(text)).toBeUndefined();
  });
});
