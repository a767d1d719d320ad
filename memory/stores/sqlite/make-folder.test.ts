import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";
import { openDatabase } from "./open-database.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lily-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a folder", () => {
  it("is made with those above it, for its owner alone", () => {
    makeFolder(join(folder, "a", "b"));
    makeFolder(join(folder, "a", "b"));
    expect(statSync(join(folder, "a", "b")).mode & 0o777).toBe(0o700);
  });

  it("is not made below a file", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => makeFolder(join(folder, "file", "a"))).toThrow("ENOTDIR");
  });

  // Only Linux has a folder in which the system makes none.
  it.skipIf(!existsSync("/proc/self"))(
    "that cannot be made is told of at once, with the file that needs it",
    () => {
      expect(() => makeFolder("/proc/nobody/home")).toThrow("ENOENT");
      expect(() => openDatabase("/proc/nobody/home/store.sqlite")).toThrow(
        "the database /proc/nobody/home/store.sqlite cannot be opened or written",
      );
    },
  );
});
