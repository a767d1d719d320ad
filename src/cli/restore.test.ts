import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { zero } from "#src/upkeep/testing/damage-file.ts";
import { emptyHome, homeIn, homeWith, openLily, saidIn } from "#src/upkeep/testing/make-home.ts";
import { envelopeIn, runLine, type Ran } from "./testing/run-cli.ts";

async function backupOf(home: string): Promise<string> {
  const folder = join(emptyHome().folder, "backup");
  expect((await runLine(home, ["backup", folder])).code).toBe(0);
  return folder;
}

const restoreTo = (home: string, folder: string, json = false): Promise<Ran> =>
  runLine(home, ["restore", folder, ...(json ? ["--json"] : [])]);

describe("lily restore", () => {
  it("puts the backup in place, verifies it, and says where that which was there is kept", async () => {
    const home = await homeWith("one");
    const folder = await backupOf(home.folder);
    const ran = await restoreTo(home.folder, folder);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("1 session with 1 turn");
    expect(ran.stdout).toContain(".before-restore-");
    expect(await saidIn(home)).toEqual(["one"]);
  });

  it("puts databases where the restored configuration says, also over a configuration that is damaged", async () => {
    const home = emptyHome();
    const storage = { checkpoints: "c.sqlite", store: "deep/s.sqlite" };
    const config = join(home.folder, "config.json");
    writeFileSync(config, JSON.stringify({ storage }));
    const lily = await openLily(home);
    await lily.say("one");
    await lily.close();
    const folder = await backupOf(home.folder);
    zero(config);
    const envelope = envelopeIn(await restoreTo(home.folder, folder, true));
    expect(envelope).toMatchObject({ ok: true, code: "restored" });
    const { aside } = z.object({ aside: z.string() }).parse(envelope.data);
    expect(readdirSync(aside)).toEqual(expect.arrayContaining(["c.sqlite", "config.json", "deep"]));
    expect(await saidIn(home)).toEqual(["one"]);
  });

  it("tells when what came is not as it was committed", async () => {
    const home = await homeWith("one");
    const db = new Database(home.databases.store);
    db.exec("UPDATE items SET value = replace(value, 'one', 'two') WHERE key = '00000001'");
    db.close();
    const folder = await backupOf(home.folder);
    const ran = await restoreTo(home.folder, folder);
    expect(ran.code).toBe(65);
    expect(ran.stderr).toContain("not as they were committed");
  });

  it("refuses a folder that is no backup with its exit code", async () => {
    const home = emptyHome();
    const ran = await restoreTo(home.folder, home.folder);
    expect(ran).toMatchObject({ code: 65, stdout: "" });
    expect(ran.stderr).toContain("manifest.json");
  });

  it("says that the folder of a backup is not there", async () => {
    const home = emptyHome();
    const ran = await restoreTo(home.folder, "/nope");
    expect(ran).toMatchObject({ code: 66, stdout: "" });
    expect(ran.stderr).toContain("there is no folder /nope");
    expect(ran.stderr).not.toContain("ENOENT");
  });

  it("restores a backup that was moved", async () => {
    const folder = await backupOf((await homeWith("one")).folder);
    const moved = join(emptyHome().folder, "far", "away");
    mkdirSync(dirname(moved));
    renameSync(folder, moved);
    const home = homeIn(join(emptyHome().folder, "new"));
    mkdirSync(home.folder);
    expect((await restoreTo(home.folder, moved)).code).toBe(0);
    expect(await saidIn(home)).toEqual(["one"]);
  });
});
