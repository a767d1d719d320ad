import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makePdf } from "#memory/evidence/testing/make-pdf.ts";
import { createReadFileTool } from "./read-file-tool.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lily-files-"));
  for (const folder of ["notes/deep", "other", ".lily", "outside"])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "notes/tea.md"), "# Tea\n\nWarm the pot.");
  writeFileSync(join(root, "notes/deep/paper.pdf"), makePdf(["A paper."]));
  writeFileSync(join(root, "outside/secret.txt"), "hidden away");
  writeFileSync(join(root, ".lily/config.json"), "{}");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const read = (path: string, folders: string[] = ["notes", "other"]): Promise<string> =>
  createReadFileTool({ folders, workspace: root, home: join(root, ".lily") }).invoke({ path });

describe("read_file", () => {
  it("reads documents under the named folders as text, and lists folders", async () => {
    expect(await read("tea.md")).toBe("# Tea\n\nWarm the pot.");
    expect(await read(join(root, "notes/tea.md"))).toContain("Warm the pot.");
    expect(await read("deep/paper.pdf")).toContain("A paper.");
    expect(await read(".")).toBe("deep/\ntea.md");
  });

  it("refuses what is outside of them like what is not there: by path, by link, and by a folder that only begins alike", async () => {
    mkdirSync(join(root, "notes-2"));
    writeFileSync(join(root, "notes-2/x.txt"), "near");
    symlinkSync(join(root, "outside/secret.txt"), join(root, "notes/link.txt"));
    symlinkSync(join(root, "outside"), join(root, "notes/linked"));
    symlinkSync(join(root, "nowhere"), join(root, "notes/dangling"));
    for (const path of [
      "../outside/secret.txt",
      join(root, "outside/secret.txt"),
      "link.txt",
      "linked/secret.txt",
      "linked",
      "dangling",
      "../notes-2/x.txt",
      "none.txt",
      "tea.md\0.txt",
      "..",
    ])
      await expect(read(path)).rejects.toThrow("is no file or folder under");
  });

  it("follows a link that stays within", async () => {
    symlinkSync(join(root, "notes/tea.md"), join(root, "notes/same.md"));
    expect(await read("same.md")).toContain("Warm the pot.");
  });

  it("never reads what Lily keeps, though its folder lies within one that is named", async () => {
    await expect(read(".lily/config.json", ["."])).rejects.toThrow("is no file or folder");
    expect(await read("notes/tea.md", ["."])).toContain("Warm the pot.");
  });

  it("says why a file cannot be read: too large, no text, a pipe", async () => {
    writeFileSync(join(root, "notes/big.txt"), Buffer.alloc(10_000_001, "a"));
    writeFileSync(join(root, "notes/dot.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]));
    spawnSync("mkfifo", [join(root, "notes/pipe")]);
    await expect(read("big.txt")).rejects.toThrow("at most 10000000 are read");
    await expect(read("dot.png")).rejects.toThrow("is a picture");
    await expect(read("pipe")).rejects.toThrow("is no file or folder under");
  });
});
