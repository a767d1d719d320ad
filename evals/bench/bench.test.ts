/** The parts of the benchmarks that can be right or wrong. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { benchmarkText } from "./benchmark-text.ts";
import { kilobytesText, msText, percentile, ratioText } from "./measure.ts";
import { programTime } from "./program-time.ts";
import { folderBytes } from "./subject.ts";
import { turnBench } from "./turn-bench.ts";

describe("measuring", () => {
  it("takes the nearest rank as a percentile", () => {
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([1, 3, 5, 5]);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it("writes times, sizes and ratios with their units", () => {
    expect([msText(9.96), msText(123.4), kilobytesText(1536), ratioText(3, 2)]).toEqual([
      "10.0 ms",
      "123 ms",
      "1.5 kB",
      "1.50 x",
    ]);
  });

  it("counts the bytes of a folder with all below it, without SQLite's working files", () => {
    const folder = mkdtempSync(join(tmpdir(), "lily-bytes-"));
    mkdirSync(join(folder, "inner"));
    writeFileSync(join(folder, "a"), "12345");
    writeFileSync(join(folder, "inner", "b"), "678");
    writeFileSync(join(folder, "inner", "b-wal"), "not counted");
    expect(folderBytes(folder)).toBe(8);
    rmSync(folder, { recursive: true });
  });

  it("asks about forty words, no text twice", () => {
    const texts = Array.from({ length: 1000 }, (_, index) => benchmarkText(index, "question"));
    expect(new Set(texts).size).toBe(1000);
    expect(texts[7]?.split(" ").length).toBeGreaterThanOrEqual(38);
    expect(texts[7]?.split(" ").length).toBeLessThanOrEqual(44);
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

describe("the turn benchmark", () => {
  it("tells time and disk a turn of Lily and of the plain agent, with their ratio", async () => {
    const table = await turnBench([2]);
    expect(table).toMatch(/2 │ disk a turn\s+│\s+[\d.]+ kB │\s+[\d.]+ kB │\s+[\d.]+ x/u);
  });
});
