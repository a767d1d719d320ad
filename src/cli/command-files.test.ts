import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commandFiles } from "./command-files.ts";

let folder = "";

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lily-files-")));
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs", "my notes.md"), "hello");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const files = () => commandFiles({ folder: join(folder, "docs"), kept: join(folder, "kept"), home: folder });

describe("bytes of a file", () => {
  it("come with the one full path, however the file was named", async () => {
    symlinkSync(join(folder, "docs", "my notes.md"), join(folder, "link.md"));
    const path = join(folder, "docs", "my notes.md");
    for (const name of ["my notes.md", "../docs/./my notes.md", "~/docs/my notes.md", "~/link.md", path]) {
      const read = await files().readBytes(name, 100);
      expect({ ...read, bytes: Buffer.from(read.bytes).toString() }).toEqual({ path, bytes: "hello" });
    }
  });

  it("are as many as may be, and refused when there are more", async () => {
    expect((await files().readBytes("my notes.md", 5)).bytes).toHaveLength(5);
    await expect(files().readBytes("my notes.md", 4)).rejects.toMatchObject({ code: "file_too_large" });
    writeFileSync(join(folder, "large"), Buffer.alloc(700_000, 7));
    expect((await files().readBytes("~/large", 700_000)).bytes).toHaveLength(700_000);
  });

  it.each([
    ["a folder", "../docs", "it is a folder"],
    ["a device, which never ends", "/dev/zero", "it is no ordinary file"],
    ["what is not there", "nothing.md", "nothing.md cannot be read: there is no such file or folder"],
    ["a path that cannot be one", "a\u0000b", "null bytes"],
  ])("are not read of %s", async (_name, path, why) => {
    await expect(files().readBytes(path, 100)).rejects.toMatchObject({
      code: "file_failed",
      message: expect.stringContaining(why),
    });
  });
});

describe("text in a file", () => {
  it("is never written over what is there", async () => {
    await expect(files().write("my notes.md", "x")).rejects.toMatchObject({
      message: "my notes.md cannot be written: it is there already, and nothing is written over",
    });
  });

  it("is not written where a folder is", async () => {
    await expect(files().write("../docs", "x")).rejects.toMatchObject({
      message: "../docs cannot be written: it is a folder",
    });
  });

  it("is not read of a name that is not there, and it is told where that was looked for", async () => {
    await expect(files().read("facts.json")).rejects.toMatchObject({
      message: `facts.json cannot be read: there is no such file or folder in ${join(folder, "docs")}`,
    });
  });

  it("is kept under a new name where there is one already", async () => {
    const [first, second] = [
      await files().write("facts.json", "one", "kept"),
      await files().write("facts.json", "two", "kept"),
    ];
    expect([first, second]).toEqual([
      join(folder, "kept", "facts.json"),
      join(folder, "kept", "facts-2.json"),
    ]);
    expect([await files().read(first), await files().read(second)]).toEqual(["one", "two"]);
  });

  it("is not kept where no folder can be made, and that is told at once", async () => {
    const { write } = commandFiles({ folder, kept: "/proc/nobody/exports", home: folder });
    await expect(write("facts.json", "x", "kept")).rejects.toMatchObject({ code: "file_failed" });
  });

  it.each([
    ["UTF-8", Buffer.from("“é”")],
    ["UTF-8 with its mark", Buffer.from("\uFEFF“é”")],
    ["UTF-16", Buffer.from("\uFEFF“é”", "utf16le")],
  ])("is read in %s", async (_name, bytes) => {
    writeFileSync(join(folder, "facts.json"), bytes);
    expect(await files().read("~/facts.json")).toBe("“é”");
  });

  it("is not read in an encoding that would give other letters", async () => {
    writeFileSync(join(folder, "facts.json"), Buffer.from("café", "latin1"));
    await expect(files().read("~/facts.json")).rejects.toMatchObject({
      code: "file_failed",
      message: "~/facts.json is no whole UTF-8 text: some bytes are not valid",
      next: "Save it as UTF-8, and give it again. Nothing was changed.",
    });
  });

  it("is not read of a device, which never ends", async () => {
    await expect(files().read("/dev/zero")).rejects.toMatchObject({ code: "file_failed" });
  });

  it("is written below the person's home folder where that is named", async () => {
    expect(await files().write("~/facts.json", "x")).toBe(join(folder, "facts.json"));
  });

  it("is not read of a path through a file, and the reason is in words", async () => {
    await expect(files().read("my notes.md/x")).rejects.toMatchObject({
      message: "my notes.md/x cannot be read: a part of its path is no folder",
    });
  });
});
