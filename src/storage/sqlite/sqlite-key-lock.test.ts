import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { currentProcess, isProcessGone } from "./sqlite-key-lock.ts";

describe("a process that holds a lease", () => {
  const self = currentProcess();

  it("is there while it runs", () => {
    expect(isProcessGone(self)).toBe(false);
  });

  it("is gone when it has ended", () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    expect(isProcessGone({ ...self, pid })).toBe(true);
  });

  it("is taken to be there when it runs on another host, of which nothing is known", () => {
    expect(isProcessGone({ ...self, host: "elsewhere", pid: 999_999_999 })).toBe(false);
  });
});
