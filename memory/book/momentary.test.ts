import { expect, it } from "vitest";
import { momentaryUntil } from "./momentary.ts";

const NOW_MS = Date.UTC(2026, 1, 3, 10, 15);

it.each([
  ["The user is tired today", "2026-02-04T10:15:00.000Z"],
  ["The user's back is sore this morning", "2026-02-04T10:15:00.000Z"],
  ["The user is hungry right now", "2026-02-04T10:15:00.000Z"],
  ["The user has a meeting tomorrow at 3pm", "2026-02-05T10:15:00.000Z"],
  ["The user is in Rome this week", "2026-02-10T10:15:00.000Z"],
  ["Der Benutzer ist heute müde", "2026-02-04T10:15:00.000Z"],
])("“%s” holds until %s", (text, until) => {
  expect(momentaryUntil(text, NOW_MS)).toBe(until);
});

it.each([
  "The user got married today",
  "The user has just started a new job today",
  "The user is always tired in the evening",
  "The user lives in Faro right now",
  "The user adopted a cat today",
  "The user is a nurse",
  "The user reads USA Today",
])("“%s” holds on", (text) => {
  expect(momentaryUntil(text, NOW_MS)).toBeUndefined();
});
