import { expect, it } from "vitest";
import { parseExpiry } from "./keys.ts";

const NOW = Date.parse("2026-03-01T09:00:00Z");

it.each([
  ["90d", "2026-05-30T09:00:00.000Z"],
  ["12 h", "2026-03-01T21:00:00.000Z"],
  ["2027-01-31", "2027-01-31T00:00:00.000Z"],
  ["2027-01-31T12:00:00+02:00", "2027-01-31T10:00:00.000Z"],
])("%s holds until %s", (text, expected) => {
  expect(parseExpiry(text, NOW)).toBe(expected);
});

it.each([
  "",
  "soon",
  "0d",
  "-1d",
  "90",
  "2026-03-01",
  "2026-03-01T09:00:00Z",
  "2027-02-30",
  "2027-01-31T12:00",
  "99999999999999y",
  "9000y",
])("%j is no time in the future", (text) => {
  expect(() => parseExpiry(text, NOW)).toThrow(expect.objectContaining({ code: "request_invalid" }));
});
