import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { backUp, type BackupReport } from "./back-up.ts";
import type { Home } from "./home.ts";
import { MANIFEST, readManifest } from "./manifest.ts";
import { damageText } from "./testing/damage-file.ts";
import { emptyHome, homeWith, openLily, saidIn } from "./testing/make-home.ts";
import { restore } from "./restore.ts";

const clock = createManualClock(Date.parse("2026-03-01T09:00:00Z"));

const backUpTo = (home: Home, folder: string): Promise<BackupReport> =>
  backUp({ home, folder, program: "1.2.3", clock });

const newFolder = (): string => join(temporaryFolder(), "backup");

async function restored(folder: string): Promise<Home> {
  const home = emptyHome();
  await restore({ folder, home, databasesBy: () => home.databases, clock });
  return home;
}

describe("a backup", () => {
  it("has every turn of a lily that still has the files open, which a copy of the files has not (ST-12)", async () => {
    const home = emptyHome();
    const lily = await openLily(home);
    for (const message of ["one", "two", "three"]) await lily.say(message);
    const copied = readFileSync(home.databases.store).length;
    expect(statSync(`${home.databases.store}-wal`).size).toBeGreaterThan(copied);
    const { folder } = await backUpTo(home, newFolder());
    await lily.say("four");
    await lily.close();
    expect(await saidIn(await restored(folder))).toEqual(["one", "two", "three"]);
  });

  it("is refused where the store is empty or missing beside checkpoints of conversations (F-1)", async () => {
    const home = await homeWith("one");
    for (const empty of [() => writeFileSync(home.databases.store, ""), () => rmSync(home.databases.store)]) {
      empty();
      const folder = newFolder();
      await expect(backUpTo(home, folder)).rejects.toMatchObject({ code: "storage_damaged" });
      expect(existsSync(folder)).toBe(false);
    }
  });

  it("copies the checkpoints before the store, because a checkpoint may be behind a transcript and never ahead", async () => {
    const home = await homeWith("one");
    const steps: string[] = [];
    await backUp({ home, folder: newFolder(), program: "1", clock, onProgress: (step) => steps.push(step) });
    expect(steps.map((step) => /checkpoints|store/u.exec(step)?.[0])).toEqual(["checkpoints", "store"]);
  });

  it("is of one moment, and does not begin anew when others write meanwhile", async () => {
    const home = await homeWith("one");
    const writer = new Database(home.databases.store);
    writer.exec("CREATE TABLE filler (x)");
    const add = writer.prepare("INSERT INTO filler VALUES (zeroblob(4000))");
    writer.transaction(() => {
      for (let n = 0; n < 3000; n += 1) add.run();
    })();
    const folder = newFolder();
    const copy = { isDone: false };
    const copying = backUpTo(home, folder).then(() => (copy.isDone = true));
    let added = 0;
    while (!copy.isDone) {
      add.run();
      added += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await copying;
    writer.close();
    const copied = new Database(join(folder, "store.sqlite"), { readonly: true });
    const count = copied.prepare<[], number>("SELECT count(*) FROM filler").pluck().get() ?? 0;
    copied.close();
    expect(count).toBeGreaterThanOrEqual(3000);
    expect(count).toBeLessThan(3000 + added);
  });

  it.skipIf(process.getuid?.() === 0)("into a folder of somebody else is told as that (R-9)", async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o500);
    await expect(backUpTo(await homeWith("one"), join(folder, "backup"))).rejects.toMatchObject({
      code: "storage_readonly",
    });
  });

  // Only Linux has a folder in which the system makes none, and Node's own way of making folders never ends there.
  it.skipIf(!existsSync("/proc/self"))("into a folder that cannot be made is told of at once", async () => {
    const home = await homeWith("one");
    await expect(backUpTo(home, "/proc/nobody/home/backup")).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("/proc/nobody/home/backup could not be written") as unknown,
    });
  });

  it("holds what else lies in the home folder, but no cache, no leftover and no other backup", async () => {
    const home = await homeWith("one");
    const write = (path: string, text = path): void => {
      mkdirSync(join(home.folder, path, ".."), { recursive: true });
      writeFileSync(join(home.folder, path), text);
    };
    for (const path of [
      "config.json",
      "persona/voice.md",
      "skills/a/SKILL.md",
      "skills/a/run.sh",
      "history",
    ]) {
      write(path, path === "config.json" ? "{}" : path);
    }
    chmodSync(join(home.folder, "skills/a/run.sh"), 0o755);
    symlinkSync(home.folder, join(home.folder, "skills/loop"));
    for (const path of ["cache/x", "api-keys.json.tmp", "history.before-restore-1", "backups/broken/x"])
      write(path);
    await backUpTo(home, join(home.folder, "mine"));
    const { manifest, folder } = await backUpTo(home, newFolder());
    expect(manifest.files.map(({ path, executable }) => `${path}${executable === true ? "*" : ""}`)).toEqual([
      "checkpoints.sqlite",
      "store.sqlite",
      "home/config.json",
      "home/history",
      "home/persona/voice.md",
      "home/skills/a/SKILL.md",
      "home/skills/a/run.sh*",
    ]);
    expect(readManifest(folder)).toEqual(manifest);
    expect(manifest).toMatchObject({ program: "1.2.3", madeAt: "2026-03-01T09:00:00.000Z", version: 1 });
  });

  it("can be read by its owner only", async () => {
    const { folder, manifest } = await backUpTo(await homeWith("one"), newFolder());
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const path of [MANIFEST, ...manifest.files.map((file) => file.path)])
      expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(["checkpoints.sqlite", MANIFEST, "store.sqlite"]);
  });

  it("overwrites nothing", async () => {
    const home = await homeWith("one");
    const folder = temporaryFolder();
    await expect(backUpTo(home, folder)).rejects.toMatchObject({ code: "backup_exists" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("of a damaged file is refused with the file's name, and leaves nothing", async () => {
    const home = await homeWith(
      ...Array.from({ length: 3 }, (_, n) => `message ${n} ${"word ".repeat(2000)}`),
    );
    damageText(home.databases.store, "message 1 ");
    const before = readFileSync(home.databases.store);
    const folder = newFolder();
    await expect(backUpTo(home, folder)).rejects.toMatchObject({
      code: "storage_damaged",
      message: expect.stringContaining(home.databases.store) as unknown,
    });
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync(home.databases.store).equals(before)).toBe(true);
  });
});
