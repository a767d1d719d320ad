import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import type { LilyError } from "#src/kernel/errors.ts";
import { backUp } from "./back-up.ts";
import { BACKUPS, type Home } from "./home.ts";
import { MANIFEST } from "./manifest.ts";
import { restore, type RestoreReport, type RestoreRequest } from "./restore.ts";
import { damageText, zero } from "./testing/damage-file.ts";
import { homeIn, homeWith, openLily, saidIn, sayIn } from "./testing/make-home.ts";

const clock = createManualClock(Date.parse("2026-03-01T09:00:00Z"));

async function backupOf(home: Home): Promise<string> {
  const folder = join(temporaryFolder(), "backup");
  await backUp({ home, folder, program: "1", clock });
  return folder;
}

function restoreTo(home: Home, folder: string, more: Partial<RestoreRequest> = {}): Promise<RestoreReport> {
  return restore({ folder, home, databasesBy: () => home.databases, clock, ...more });
}

/** Every file below a folder with its bytes: what "untouched" means. */
function bytesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), "base64"),
    ]),
  );
}

describe("a restore", () => {
  it("puts back what was, also from a file that is damaged now, which is kept (ST-08)", async () => {
    const home = await homeWith("one", `two ${"word ".repeat(2000)}`);
    const folder = await backupOf(home);
    damageText(home.databases.store, "two word");
    const damaged = readFileSync(home.databases.store);
    const { aside } = await restoreTo(home, folder);
    expect(await saidIn(home)).toEqual(["one", expect.stringMatching(/^two /u)]);
    const kept = homeIn(aside ?? "").databases.store;
    // Its header tells of the look into it; every other page is as it was.
    expect(readFileSync(kept).subarray(4096).equals(damaged.subarray(4096))).toBe(true);
  });

  it("puts back what was over a file of zeros (ST-07)", async () => {
    const home = await homeWith("one");
    const folder = await backupOf(home);
    zero(home.databases.store);
    zero(home.databases.checkpoints);
    await restoreTo(home, folder);
    expect(await saidIn(home)).toEqual(["one"]);
  });

  it("keeps the whole folder from before, with the turns since the backup, under another name", async () => {
    const home = await homeWith("one");
    const folder = await backupOf(home);
    await sayIn(home, "two");
    const { aside } = await restoreTo(home, folder);
    expect(aside).toBe(`${home.folder}.before-restore-20260301T090000-000Z`);
    expect(await saidIn(home)).toEqual(["one"]);
    expect(await saidIn(homeIn(aside ?? ""))).toEqual(["one", "two"]);
    expect(readdirSync(join(home.folder, "..")).sort()).toEqual(["home", basename(aside ?? "")]);
  });

  it("restores from the backups of the home folder itself, which stay where they are", async () => {
    const home = await homeWith("one");
    const folder = join(home.folder, BACKUPS, "b1");
    await backUp({ home, folder, program: "1", clock });
    await restoreTo(home, folder);
    expect(existsSync(join(folder, MANIFEST))).toBe(true);
    expect(await saidIn(home)).toEqual(["one"]);
  });

  it("fills an empty home, and one that does not exist", async () => {
    const folder = await backupOf(await homeWith("one"));
    const home = homeIn(join(temporaryFolder(), "home"));
    const { aside } = await restoreTo(home, folder);
    expect(aside).toBeNull();
    expect(await saidIn(home)).toEqual(["one"]);
    expect(statSync(home.folder).mode & 0o777).toBe(0o700);
    for (const file of Object.values(home.databases)) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("leaves no file from before between those of the backup, and follows a home that is a link", async () => {
    const home = await homeWith("one");
    const write = (path: string): void => {
      mkdirSync(join(home.folder, path, ".."), { recursive: true });
      writeFileSync(join(home.folder, path), path);
    };
    write("skills/old/SKILL.md");
    write("memory/notes.md");
    const folder = await backupOf(home);
    rmSync(join(home.folder, "skills/old"), { recursive: true });
    write("skills/new/SKILL.md");
    const link = homeIn(join(temporaryFolder(), "link"));
    symlinkSync(home.folder, link.folder);
    await restoreTo(link, folder);
    expect(readdirSync(join(home.folder, "skills"))).toEqual(["old"]);
    expect(readFileSync(join(home.folder, "memory/notes.md"), "utf8")).toBe("memory/notes.md");
    expect(await saidIn(link)).toEqual(["one"]);
  });
});

describe("a restore is refused, and nothing is changed,", () => {
  it("while another lily has the files open, even if it only sits there", async () => {
    const home = await homeWith("one");
    const folder = await backupOf(home);
    const lily = await openLily(home);
    await expect(restoreTo(home, folder)).rejects.toMatchObject({ code: "storage_busy" });
    expect(await lily.say("what did I say?")).not.toBe("");
    expect(await lily.said()).toHaveLength(2);
    await lily.close();
    await restoreTo(home, folder);
    expect(await saidIn(home)).toEqual(["one"]);
  });

  it("while somebody holds a lease", async () => {
    const home = await homeWith("one");
    const folder = await backupOf(home);
    const db = new Database(home.databases.store);
    db.prepare("UPDATE leases SET expires_at = ?").run(clock.now() + 1000);
    db.close();
    await expect(restoreTo(home, folder)).rejects.toMatchObject({
      code: "storage_busy",
      message: expect.stringContaining("2026-03-01T09:00:01") as unknown,
    });
    expect(await saidIn(home)).toEqual(["one"]);
  });

  const manifestIn = (folder: string): string => join(folder, MANIFEST);
  const filesSchema = z.looseObject({
    version: z.number(),
    files: z.array(z.looseObject({ path: z.string() })),
  });
  const changeManifest = (
    folder: string,
    change: (manifest: z.infer<typeof filesSchema>) => unknown,
  ): void => {
    const manifest = filesSchema.parse(JSON.parse(readFileSync(manifestIn(folder), "utf8")));
    writeFileSync(manifestIn(folder), JSON.stringify(change(manifest)));
  };

  it.each<[string, string, (folder: string) => void]>([
    [
      "a file has other bytes",
      "backup_invalid",
      (folder) => appendFileSync(join(folder, "store.sqlite"), "x"),
    ],
    ["a file is missing", "backup_invalid", (folder) => rmSync(join(folder, "checkpoints.sqlite"))],
    ["it was cut off", "backup_invalid", (folder) => rmSync(manifestIn(folder))],
    ["the manifest is of zeros", "backup_invalid", (folder) => zero(manifestIn(folder))],
    [
      "the manifest is newer",
      "storage_newer",
      (folder) => changeManifest(folder, (manifest) => ({ ...manifest, version: 2, more: true })),
    ],
    [
      "a path leads out of the backup",
      "backup_invalid",
      (folder) =>
        changeManifest(folder, ({ files, ...rest }) => ({
          ...rest,
          files: files.map((file) => ({ ...file, path: "home/../../x", role: "file" })),
        })),
    ],
  ])("when %s", async (_what, code, spoil) => {
    const folder = await backupOf(await homeWith("one"));
    spoil(folder);
    const home = await homeWith("two");
    const before = bytesIn(home.folder);
    await expect(restoreTo(home, folder)).rejects.toMatchObject({ code });
    expect(bytesIn(home.folder)).toEqual(before);
  });
});

describe("a restore that is cut off", () => {
  it.each(["staged", "aside"] as const)(
    "after the step '%s' leaves both whole, and says how to go on",
    async (last) => {
      const folder = await backupOf(await homeWith("one"));
      const home = await homeWith("two");
      const kill = (step: string): void => {
        if (step === last) throw new Error("cut off");
      };
      await expect(restoreTo(home, folder, { afterStep: kill })).rejects.toThrow("cut off");
      if (last === "staged") {
        expect(await saidIn(home)).toEqual(["two"]);
      } else {
        const { next = "" } = await openLily(home).then(
          () => ({ next: "it was opened" }),
          (error: LilyError) => error,
        );
        expect(existsSync(home.folder)).toBe(false);
        expect(next).toContain("ends it");
        renameSync(next.split('"')[1] ?? "", home.folder);
        expect(await saidIn(home)).toEqual(["one"]);
      }
      clock.advance(1000);
      await restoreTo(home, folder);
      expect(await saidIn(home)).toEqual(["one"]);
    },
  );
});
