import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { zero } from "#src/upkeep/testing/damage-file.ts";
import { emptyHome, homeWith } from "#src/upkeep/testing/make-home.ts";
import { envelopeIn, runLine, type Ran } from "./testing/run-cli.ts";

const examine = (home: string, { repair = false, json = false } = {}): Promise<Ran> =>
  runLine(home, ["doctor", ...(repair ? ["--repair"] : []), ...(json ? ["--json"] : [])]);

const dataSchema = z.object({
  checks: z.array(z.object({ check: z.string(), state: z.string(), found: z.string() })),
  usage: z.array(z.object({ kind: z.string(), bytes: z.number() })),
  repairs: z.array(z.object({ item: z.string(), state: z.string() })),
});

function change(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

describe("lily doctor", () => {
  it("names files of agents that are left out, and says nothing where all are read", async () => {
    const { folder } = await homeWith("one");
    mkdirSync(join(folder, "persona"));
    writeFileSync(join(folder, "persona", "SOUL.md"), "You are calm.");
    expect((await examine(folder)).stdout).not.toContain("persona and skills");
    writeFileSync(join(folder, "persona", "IDENTITY.md"), Buffer.from([0xff, 0x41]));
    mkdirSync(join(folder, "skills", "bread"), { recursive: true });
    writeFileSync(join(folder, "skills", "bread", "SKILL.md"), "---\ndescription: [a, b\n---\n");
    const ran = await examine(folder, { json: true });
    const { checks } = dataSchema.parse(envelopeIn(ran).data);
    const found = checks.find(({ check }) => check === "persona and skills");
    expect(found).toMatchObject({ state: "warn" });
    expect(found?.found).toContain("persona/IDENTITY.md is not UTF-8 text");
    expect(found?.found).toContain("skills/bread");
    expect(ran.code).toBe(0);
  });

  it("names plugins that are left out", async () => {
    const { folder } = await homeWith("one");
    writeFileSync(join(folder, "config.json"), '{"plugins": ["./gone.mjs"]}');
    const { checks } = dataSchema.parse(envelopeIn(await examine(folder, { json: true })).data);
    expect(checks.find(({ check }) => check === "plugins")).toMatchObject({
      state: "warn",
      found: expect.stringContaining(`${join(folder, "gone.mjs")} is left out: `) as string,
    });
  });

  it("shows what was found and what takes the space as tables", async () => {
    const { folder } = await homeWith("one");
    const ran = await examine(folder);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toMatch(/^check +state +found/u);
    expect(ran.stdout).toMatch(/^history +1 +/mu);
    expect(ran.stdout).toContain("everything is in order");
    expect(existsSync(join(folder, "backups"))).toBe(false);
  });

  it("gives programs one envelope with the same facts", async () => {
    const { folder } = await homeWith("one");
    const envelope = envelopeIn(await examine(folder, { json: true }));
    expect(envelope).toMatchObject({ ok: true, code: "examined" });
    const { checks, repairs } = dataSchema.parse(envelope.data);
    expect(new Set(checks.map(({ state }) => state))).toEqual(new Set(["ok"]));
    expect(repairs).toEqual([]);
  });

  it.each([
    ["a file of zeros", "storage_damaged", 65, (file: string) => zero(file)],
    ["a newer file", "storage_newer", 78, (file: string) => change(file, "PRAGMA user_version = 99")],
    [
      "a changed turn",
      "verify_failed",
      65,
      (file: string) =>
        change(file, "UPDATE items SET value = replace(value, 'one', 'two') WHERE key = '00000001'"),
    ],
  ])("ends with the exit code of the gravest finding: %s", async (_what, code, exit, spoil) => {
    const home = await homeWith("one");
    spoil(home.databases.store);
    const ran = await examine(home.folder, { json: true });
    expect(ran.code).toBe(exit);
    expect(envelopeIn(ran)).toMatchObject({ ok: false, code });
    const shown = await examine(home.folder);
    expect(shown.code).toBe(exit);
    expect(shown.stdout).toContain("checkpoint file");
    expect(shown.stderr).not.toBe("");
  });

  it("looks at the databases also where the configuration is damaged (ST-07)", async () => {
    const { folder } = await homeWith("one");
    writeFileSync(join(folder, "config.json"), Buffer.alloc(20));
    const ran = await examine(folder, { json: true });
    expect(ran.code).toBe(78);
    const { checks } = dataSchema.parse(envelopeIn(ran).data);
    expect(checks.find(({ check }) => check === "seals")?.state).toBe("ok");
    expect(checks[0]).toMatchObject({ check: "configuration", state: "bad" });
  });

  it("repairs after a backup, and says what was done", async () => {
    const home = await homeWith("one");
    change(home.databases.store, "INSERT INTO item_text (item_text) VALUES ('delete-all')");
    expect((await examine(home.folder)).stdout).toContain("1 texts are missing");
    const ran = await examine(home.folder, { repair: true });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("made anew from 1 text");
    expect(ran.stdout).toContain("everything is in order");
    expect(readdirSync(join(home.folder, "backups"))).toHaveLength(1);
  });

  it("is refused where nothing is kept", async () => {
    const { folder } = emptyHome();
    writeFileSync(join(folder, "config.json"), JSON.stringify({ storage: { backend: "memory" } }));
    expect(await examine(folder)).toMatchObject({ code: 69, stdout: "" });
    const missing = join(folder, "mistyped");
    expect(await examine(missing)).toMatchObject({ code: 2, stdout: "" });
    expect(existsSync(missing)).toBe(false);
  });
});
