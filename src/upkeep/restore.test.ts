import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "#memory/stores/sqlite/temporary-folder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { backUp } from "./back-up.ts";
import type { Home } from "./home.ts";
import { holdDatabases } from "./hold-databases.ts";
import { MANIFEST } from "./manifest.ts";
import { restore, type RestoreReport, type RestoreRequest } from "./restore.ts";
import { readMarker } from "./restore-marker.ts";
import { damageText, zero } from "./testing/damage-file.ts";
import { emptyHome, homeWith, openLily, saidIn, sayIn } from "./testing/make-home.ts";

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
    const { aside, checkpointsPut } = await restoreTo(home, folder);
    expect(checkpointsPut).toBe(true);
    expect(await saidIn(home)).toEqual(["one", expect.stringMatching(/^two /u)]);
    const kept = aside.find((path) => path.startsWith(home.databases.store)) ?? "";
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

  it("keeps the turns since the backup beside what it puts back", async () => {
    const home = await homeWith("one");
    const folder = await backupOf(home);
    await sayIn(home, "two");
    const { aside } = await restoreTo(home, folder);
    expect(await saidIn(home)).toEqual(["one"]);
    for (const [role, path] of [
      ["checkpoints", aside[0]],
      ["store", aside[1]],
    ] as const) {
      rmSync(home.databases[role]);
      renameSync(path ?? "", home.databases[role]);
    }
    expect(await saidIn(home)).toEqual(["one", "two"]);
  });

  it("takes an old log away from beside the file that it puts back (ST-12)", async () => {
    const home = emptyHome();
    const lily = await openLily(home);
    await lily.say("one");
    const folder = await backupOf(home);
    await lily.say("two");
    for (const file of Object.values(home.databases)) copyFileSync(`${file}-wal`, `${file}.log`);
    await lily.close();
    for (const file of Object.values(home.databases)) {
      // As after a crash, with the file itself gone: there is nothing that could be opened and would fold the log in.
      rmSync(file);
      renameSync(`${file}.log`, `${file}-wal`);
    }
    await restoreTo(home, folder);
    for (const file of Object.values(home.databases)) expect(existsSync(`${file}-wal`)).toBe(false);
    expect(await saidIn(home)).toEqual(["one"]);
  });

  it("fills an empty home, and one that does not exist", async () => {
    const folder = await backupOf(await homeWith("one"));
    const home = emptyHome();
    rmSync(home.folder, { recursive: true });
    const { aside } = await restoreTo(home, folder);
    expect(aside).toEqual([]);
    expect(await saidIn(home)).toEqual(["one"]);
    expect(statSync(home.folder).mode & 0o777).toBe(0o700);
    for (const file of Object.values(home.databases)) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("leaves no file of a folder from before between those of the backup", async () => {
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
    write("config.json");
    await restoreTo(home, folder);
    expect(readdirSync(join(home.folder, "skills"))).toEqual(["old"]);
    expect(readFileSync(join(home.folder, "memory/notes.md"), "utf8")).toBe("memory/notes.md");
    expect(existsSync(join(home.folder, "config.json"))).toBe(false);
    const stamp = "before-restore-20260301T090000-000Z";
    expect(readdirSync(join(home.folder, `skills.${stamp}`))).toEqual(["new"]);
    expect(existsSync(join(home.folder, `config.json.${stamp}`))).toBe(true);
    expect(readdirSync(home.folder).filter((name) => name.startsWith(".restore"))).toEqual([]);
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

  it("while a process of another host holds a lease", async () => {
    const home = await homeWith("one");
    const folder = await backupOf(home);
    const db = new Database(home.databases.store);
    db.prepare("UPDATE leases SET host = 'elsewhere', expires_at = ?").run(clock.now() + 1000);
    db.close();
    await expect(restoreTo(home, folder)).rejects.toMatchObject({
      code: "storage_busy",
      message: expect.stringContaining("elsewhere") as unknown,
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
  const STEPS = ["marker", "staged", "checkpoints aside", "store in place", "checkpoints in place"];

  it.each(STEPS)(
    "after '%s' leaves the old conversations or the new ones, and can be ended",
    async (last) => {
      const folder = await backupOf(await homeWith("one"));
      const home = await homeWith("two");
      const stop = (step: string): void => {
        if (step === last) throw new Error("cut off");
      };
      await expect(restoreTo(home, folder, { afterStep: stop })).rejects.toThrow("cut off");
      expect(readMarker(home.folder)).toMatchObject({ backup: folder });
      expect(await saidIn(home)).toEqual([
        STEPS.indexOf(last) < STEPS.indexOf("store in place") ? "two" : "one",
      ]);
      clock.advance(1000);
      await restoreTo(home, folder);
      expect(await saidIn(home)).toEqual(["one"]);
      expect(readMarker(home.folder)).toBeUndefined();
      const left = readdirSync(home.folder, { recursive: true }).filter((name) =>
        String(name).includes(".restore-"),
      );
      expect(left).toEqual([]);
    },
  );
});

describe("a database that is held", () => {
  it("refuses whoever opened it and writes once it was moved aside", () => {
    const file = join(temporaryFolder(), "a.sqlite");
    const made = new Database(file);
    made.pragma("journal_mode = WAL");
    made.exec("CREATE TABLE t (x)");
    made.close();
    const held = holdDatabases([file], clock);
    const late = new Database(file, { timeout: 0 });
    expect(() => late.pragma("journal_mode")).toThrow(expect.objectContaining({ code: "SQLITE_BUSY" }));
    renameSync(file, `${file}.aside`);
    new Database(file).exec("CREATE TABLE other (x)").close();
    held.release();
    expect(() => late.pragma("journal_mode = WAL")).toThrow(
      expect.objectContaining({ code: "SQLITE_READONLY_DBMOVED" }),
    );
    late.close();
    expect(readdirSync(join(file, "..")).sort()).toEqual(["a.sqlite", "a.sqlite.aside"]);
  });
});
