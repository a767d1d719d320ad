import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createInputHistory, linesWithout } from "./history-file.ts";

const newHome = () => mkdtempSync(join(tmpdir(), "lily-history-"));
const fileOf = (home: string) => join(home, "cli-history");

describe("the input history", () => {
  it("is there again at the next start, newest first", () => {
    const home = newHome();
    const history = createInputHistory(home);
    expect(history.load()).toEqual([]);
    history.add("one");
    history.add("two lines");
    history.add("two lines");
    history.add("  ");
    expect(createInputHistory(home).load()).toEqual(["two lines", "one"]);
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  });

  it("keeps the newest 500 lines", () => {
    const home = newHome();
    const history = createInputHistory(home);
    for (let line = 1; line <= 510; line += 1) history.add(`line ${line}`);
    const loaded = createInputHistory(home).load();
    expect([loaded.length, loaded[0], loaded.at(-1)]).toEqual([500, "line 510", "line 11"]);
    expect(readFileSync(fileOf(home), "utf8").split("\n")).toHaveLength(501);
  });

  it("cannot bring control characters back", () => {
    const home = newHome();
    createInputHistory(home).add("a");
    writeFileSync(fileOf(home), "\u001B[2Jb\u0007\n");
    expect(createInputHistory(home).load()).toEqual(["b"]);
  });

  it("erases messages that say something, in the file too, and goes on behind them", () => {
    const home = newHome();
    const history = createInputHistory(home);
    const saysTea = (text: string): boolean => /green\s+tea/u.test(text);
    expect([history.count(saysTea), history.erase(saysTea)]).toEqual([0, 0]);
    for (const line of ["one", "I like green\\", "tea", "two", "green tea"]) history.add(line);
    expect(history.count(saysTea)).toBe(3);
    expect(history.erase(saysTea)).toBe(3);
    history.add("two");
    history.add("three");
    expect(readFileSync(fileOf(home), "utf8")).toBe("one\ntwo\nthree\n");
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
  });

  it("goes without when its file cannot be written", () => {
    const home = "/dev/null";
    const history = createInputHistory(home);
    expect(history.load()).toEqual([]);
    expect(() => history.add("one")).not.toThrow();
    expect(() => chmodSync(fileOf(home), 0o600)).toThrow();
  });
});

const saysTea = (text: string): boolean => /green\s+tea/u.test(text);

describe("lines without those that say something", () => {
  it.each<[string, string[], string[]]>([
    ["a line that says it goes", ["one", "green tea", "two"], ["one", "two"]],
    [
      "a message goes with all its lines",
      ["one", "I like green\\", "tea, and\\", "cake", "two"],
      ["one", "two"],
    ],
    ["what only stands beside it stays", ["green", "tea"], ["green", "tea"]],
    ["a message that was never ended is one too", ["one", "green tea\\"], ["one"]],
    ["nothing is left of nothing", [], []],
  ])("%s", (_what, lines, kept) => expect(linesWithout(lines, saysTea)).toEqual(kept));
});
