import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApp } from "#src/app/open-app.ts";
import { verifyStore } from "#src/upkeep/conversations.ts";
import { barTable } from "./bars.ts";
import { openLily } from "./lily.ts";
import { measureInTurns, percentile } from "./rounds.ts";

test("a conversation that was written instead of driven verifies as one that was driven", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lily-bench-test-"));
  try {
    const lily = await openLily(folder, 30, 6);
    await lily.turn();
    expect(await lily.bytes()).toBeGreaterThan(30 * 1_000);
    await lily.close();
    const { storage } = await openApp({ LILY_HOME: folder }, folder);
    const report = await verifyStore(storage.store);
    await storage.close();
    expect(report).toMatchObject({ ok: true, sessions: 1, turns: 31 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("subjects take turns, each round begins with another, and what is seldom takes part seldom", async () => {
  const order: string[] = [];
  const subject = (name: string, perRound: number, every: number) => ({
    name,
    perRound,
    every,
    run: () => order.push(name),
  });
  const samples = await measureInTurns([subject("a", 2, 1), subject("b", 1, 2)], 3);
  expect(order.join("")).toBe("aabaaaab");
  expect([samples.get("a")?.length, samples.get("b")?.length]).toEqual([6, 2]);
});

test("a percentile is a measured value", () => {
  const samples = new Map([["a", [4, 1, 3, 2]]]);
  expect([0.5, 0.95].map((share) => percentile(samples, "a", share))).toEqual([2, 4]);
  expect(percentile(samples, "b", 0.5)).toBeNaN();
});

test("a bar is met at its limit; what was not measured meets none", () => {
  const most = { id: "most", what: "most", unit: "times", atMost: 2 } as const;
  const least = { id: "least", what: "least", unit: "times", atLeast: 2 } as const;
  const verdicts = (value: number) =>
    barTable([most, least], { most: value, least: value }).match(/NOT MET|met/gu);
  expect(verdicts(2)).toEqual(["met", "met"]);
  expect(verdicts(3)).toEqual(["NOT MET", "met"]);
  expect(verdicts(Number.NaN)).toEqual(["NOT MET", "NOT MET"]);
});
