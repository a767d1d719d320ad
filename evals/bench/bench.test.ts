/** The parts of the benchmarks that can be right or wrong. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { benchmarkText } from "./benchmark-text.ts";
import { benchPlan, conversationsFor } from "./bench-plan.ts";
import type { BenchResult, CaseResult, DiskCosts } from "./bench-result.ts";
import { benchTables } from "./bench-tables.ts";
import { medians, type FreshTimes } from "./fresh-times.ts";
import { growthLawOf, totalBytes } from "./growth-law.ts";
import { kindGrowth } from "./lily-disk.ts";
import { EVENING, openLilySubject } from "./lily-subject.ts";
import { kilobytesText, msText, percentile, ratioText } from "./measure.ts";
import { openFloorSubject, openPlainSubject } from "./plain-subject.ts";
import { programTime } from "./program-time.ts";
import { folderBytes } from "./subject.ts";
import { targetsOf } from "./targets.ts";
import { withComputedDisk } from "./turn-bench.ts";

const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lily-bench-test-"));
  folders.push(folder);
  return folder;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe("measuring", () => {
  it("takes the nearest rank as a percentile", () => {
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([1, 3, 5, 5]);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it("writes times, sizes and ratios with their units", () => {
    expect([9.961, 10, 123.4].map(msText)).toEqual(["9.96 ms", "10.0 ms", "123 ms"]);
    expect([1536, 2.5e6, 41e9].map(kilobytesText)).toEqual(["1.5 kB", "2.5 MB", "41.0 GB"]);
    expect([ratioText(3, 2), ratioText(5_000, 2)]).toEqual(["1.50 x", "2500 x"]);
  });

  it("counts the bytes of a folder with all below it, without SQLite's working files", () => {
    const folder = newFolder();
    mkdirSync(join(folder, "inner"));
    writeFileSync(join(folder, "a"), "12345");
    writeFileSync(join(folder, "inner", "b"), "678");
    writeFileSync(join(folder, "inner", "b-wal"), "not counted");
    expect(folderBytes(folder)).toBe(8);
  });

  it("asks about forty words, no text twice", () => {
    const texts = Array.from({ length: 1000 }, (_, index) => benchmarkText(index, "question"));
    expect(new Set(texts).size).toBe(1000);
    expect(texts[7]?.split(" ").length).toBeGreaterThanOrEqual(38);
    expect(texts[7]?.split(" ").length).toBeLessThanOrEqual(44);
  });

  it("takes the middle of each number of several processes by itself", () => {
    const times = (importedMs: number, openMs: number): FreshTimes => ({
      importedMs,
      openMs,
      readMs: 0,
      answerMs: 0,
      heapBytes: 0,
      rssBytes: 0,
    });
    expect(medians([times(1, 9), times(3, 7), times(2, 8)])).toEqual(times(2, 8));
  });

  it("tells what each turn adds by kind, and leaves out what is not there", () => {
    const use = (kind: string, bytes: number) => ({ kind, bytes, count: null });
    const before = [use("transcripts", 100), use("free pages", 0), use("log", 0)];
    const after = [use("transcripts", 300), use("free pages", 0), use("log", 50)];
    expect(kindGrowth(before, after, 10)).toEqual([
      { kind: "transcripts", totalBytes: 300, bytesPerTurn: 20 },
      { kind: "log", totalBytes: 50, bytesPerTurn: 5 },
    ]);
  });
});

describe("the growth law", () => {
  const law = { fixed: 700, perTurn: 3288 };
  const added = (turn: number) => ({ turn, bytes: law.fixed + law.perTurn * turn });

  it("is the line through what single turns added", () => {
    const found = growthLawOf([10, 100, 5_000].map(added));
    expect(found.fixed).toBeCloseTo(law.fixed, 3);
    expect(found.perTurn).toBeCloseTo(law.perTurn, 3);
  });

  it("gives the total of all turns up to one", () => {
    const sum = Array.from({ length: 1000 }, (_, index) => added(index + 1).bytes).reduce((a, b) => a + b, 0);
    expect(totalBytes(law, 1000)).toBe(sum);
  });

  it("is not guessed from one turn", () => {
    expect(() => growthLawOf([added(10)])).toThrow("a line needs two turns");
  });
});

describe("the plan", () => {
  it("has no conversation that outgrows its length by more than a fifth, from 20 turns on", () => {
    for (const turns of [20, 100, 1_000, 5_000]) {
      const { count, turnsEach } = conversationsFor(turns, 100);
      expect(turnsEach).toBeLessThanOrEqual(turns / 5);
      expect(count * turnsEach).toBeGreaterThanOrEqual(100);
    }
    expect(conversationsFor(10, 100)).toEqual({ count: 25, turnsEach: 4 });
    expect(conversationsFor(0, 100)).toEqual({ count: 1, turnsEach: 100 });
  });

  it("drives Lily always, and the plain agent only where that ends", () => {
    const { cases } = benchPlan("full");
    const preloaded = cases.filter(({ isPreloaded }) => isPreloaded);
    expect(new Set(preloaded.map(({ subject, turns }) => `${subject} ${turns}`))).toEqual(
      new Set(["plain 1000", "plain 5000"]),
    );
    expect(
      cases.filter(({ subject, usesTools }) => subject === "lily" && !usesTools).map(({ turns }) => turns),
    ).toEqual([10, 100, 1_000, 5_000]);
  });

  it("leaves out tools and long conversations when it has to be quick", () => {
    const { cases } = benchPlan("quick");
    expect(cases.some(({ usesTools }) => usesTools)).toBe(false);
    expect(Math.max(...cases.map(({ turns }) => turns))).toBe(100);
  });
});

const diskCosts = (costs: Partial<DiskCosts>): DiskCosts => ({
  totalBytes: 0,
  bytesPerTurn: 0,
  fromTurn: 0,
  toTurn: 0,
  isComputed: false,
  ...costs,
});

const caseResult = (result: Partial<CaseResult>): CaseResult => ({
  subject: "lily",
  usesTools: false,
  turns: 5_000,
  isPreloaded: false,
  samples: 100,
  p50Ms: 4,
  p95Ms: 15,
  processorMs: 4,
  given: 187,
  ...result,
});

const benchResult = (cases: readonly CaseResult[]): BenchResult => ({
  node: "v20",
  processor: "a processor",
  cores: 2,
  foreignCores: 0.25,
  cases,
});

/** Lily at its limits: all met, none with room to spare. */
const AT_THE_LIMITS = [
  caseResult({ turns: 100, p50Ms: 4 }),
  caseResult({ turns: 1_000, p50Ms: 5 }),
  caseResult({
    p50Ms: 5,
    disk: diskCosts({ totalBytes: 10_000_000, bytesPerTurn: 2_000 }),
    fresh: { importedMs: 900, openMs: 6, readMs: 4, answerMs: 90, heapBytes: 1, rssBytes: 2 },
  }),
  caseResult({ subject: "floor", turns: 0, p50Ms: 2 }),
  caseResult({ subject: "plain", turns: 1_000, p50Ms: 150 }),
  caseResult({
    subject: "plain",
    isPreloaded: true,
    p50Ms: 1_000,
    disk: diskCosts({ totalBytes: 5_000_000_000, isComputed: true }),
  }),
];

describe("the targets", () => {
  it("are met at their limits", () => {
    const targets = targetsOf(benchResult(AT_THE_LIMITS));
    expect(targets.filter(({ isMet }) => !isMet)).toEqual([]);
    expect(targets).toHaveLength(16);
  });

  it("are not met just beyond them", () => {
    const worse = AT_THE_LIMITS.map((one) =>
      one.subject === "lily"
        ? {
            ...one,
            p50Ms: one.turns === 100 ? one.p50Ms : 5.01,
            p95Ms: 15.1,
            ...(one.disk && { disk: { ...one.disk, totalBytes: 10_000_001, bytesPerTurn: 2_001 } }),
            ...(one.fresh && { fresh: { ...one.fresh, readMs: 4.1 } }),
          }
        : one,
    );
    const met = targetsOf(benchResult(worse)).filter(({ isMet }) => isMet);
    expect(met.map(({ what }) => what)).toEqual([
      "p50 at 100 turns",
      "p50 to the agent without persistence at 100 turns",
    ]);
  });

  it("are told only of what was measured", () => {
    const targets = targetsOf(benchResult([caseResult({ turns: 10, usesTools: true })]));
    expect(targets.map(({ what }) => what)).toEqual([
      "p50 at 10 turns, a tool call each",
      "p95 at 10 turns, a tool call each",
    ]);
  });
});

describe("the disk of a preloaded conversation", () => {
  it("is what the turns that lead to it would have added", () => {
    const plain = (turns: number, disk: Partial<DiskCosts>) =>
      caseResult({
        subject: "plain",
        turns,
        disk: diskCosts({ fromTurn: turns - 1, toTurn: turns, ...disk }),
      });
    const results = withComputedDisk([
      plain(10, { bytesPerTurn: 1_000, totalBytes: 77 }),
      plain(100, { bytesPerTurn: 10_000, isComputed: true }),
    ]);
    expect(results.map(({ disk }) => Math.round(disk?.totalBytes ?? 0))).toEqual([77, 505_000]);
  });
});

describe("the tables", () => {
  it("mark what was preloaded and what was computed, and say which targets are met", () => {
    const text = benchTables(benchResult(AT_THE_LIMITS));
    expect(text).toContain("2 cores, of which other programs used 0.3");
    expect(text).toMatch(/5000\* │ plain │\s+1000 ms/u);
    expect(text).toContain("5.0 GB°");
    expect(text).toMatch(/smaller than the plain agent at 5000 turns\s+│\s+500 x │\s+at least 500 x │ met/u);
  });
});

describe.each([false, true])("the subjects, with tools: %s", (usesTools) => {
  it("give a model what each of them keeps of a conversation", async () => {
    const lily = await openLilySubject(newFolder(), { usesTools });
    const plain = openPlainSubject(newFolder(), { usesTools });
    const floor = openFloorSubject({ usesTools });
    const given: number[][] = [];
    for (const subject of [lily, plain, floor]) {
      await subject.turn("bench:0", benchmarkText(1, "question"));
      await subject.turn("bench:0", benchmarkText(2, "question"));
      given.push([subject.given()]);
      await subject.close();
    }
    // Of a turn with a call a model sees question, call, result and answer.
    expect(given.flat()).toEqual(usesTools ? [7, 7, 3] : [3, 3, 1]);
  });

  it("preload a plain agent as driving it does", async () => {
    const plain = openPlainSubject(newFolder(), { usesTools });
    await plain.preload("bench:0", 5);
    await plain.turn("bench:0", benchmarkText(6, "question"));
    expect(plain.given()).toBe(usesTools ? 5 * 4 + 3 : 5 * 2 + 1);
    await plain.close();
  });
});

describe("Lily as a subject", () => {
  it("goes on with the same session in the evening", async () => {
    const folder = newFolder();
    const morning = await openLilySubject(folder, { usesTools: false });
    await morning.turn("bench:0", benchmarkText(1, "question"));
    await morning.close();
    const evening = await openLilySubject(folder, { usesTools: false, now: EVENING });
    await evening.readState("bench:0");
    await evening.turn("bench:0", benchmarkText(2, "question"));
    expect(evening.given()).toBe(3);
    await expect(evening.readState("bench:1")).rejects.toThrow("there is no conversation bench:1");
    await evening.close();
  });
});

describe("starting a program", () => {
  const node = (script: string) => ({ command: process.execPath, args: ["-e", script] });

  it("measures to the end, or to what is said", async () => {
    expect(await programTime(node("0"))).toBeGreaterThan(0);
    const talking = "process.stdin.once('data', () => process.exit()); console.log('ready 3')";
    expect(await programTime({ ...node(talking), until: /ready \d/u })).toBeGreaterThan(0);
  });

  it("says when the program fails, ends too early or is not there", async () => {
    await expect(programTime(node("process.exit(3)"))).rejects.toThrow("it ended with 3");
    await expect(programTime({ ...node("0"), until: /ready/u })).rejects.toThrow(
      "it ended without saying ready",
    );
    await expect(programTime({ command: "no-such-program", args: [] })).rejects.toThrow("ENOENT");
  });
});
