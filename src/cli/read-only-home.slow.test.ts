/** A home folder on read-only media, mounted in a namespace of its own: file modes do not hold for everybody. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { runLine } from "./testing/run-cli.ts";

const PROGRAM = fileURLToPath(new URL("./lily.mjs", import.meta.url));
const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0;

/** Runs `lily` while its home is read-only. */
function lily(home: string, ...args: string[]) {
  const script = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"`;
  const env = { PATH: process.env["PATH"], HOME: home, LILY_HOME: home, LANGSMITH_TRACING: "false" };
  const line = ["-rm", "sh", "-c", script, "sh", home, process.execPath, PROGRAM, ...args];
  const { status, stdout, stderr } = spawnSync("unshare", line, { cwd: tmpdir(), env, encoding: "utf8" });
  return { code: status, stdout, stderr };
}

const bytesIn = (home: string) =>
  readdirSync(home, { recursive: true, encoding: "utf8" })
    .filter((name) => name.includes(".sqlite"))
    .map((name) => [name, readFileSync(join(home, name)).toString("base64")]);

async function homeWithFact(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "lily-ro-"));
  await runLine(home, ["ask", "/remember I like jasmine tea"]);
  await runLine(home, ["ask", "hello"]);
  return home;
}

// Without namespaces of mounts there is no read-only media to read.
describe.skipIf(!canMount)("a home that cannot be written", () => {
  it.each(["closed", "left with a log by a program that was killed"])(
    "is read, and takes no message: %s (F-8)",
    async (how) => {
      const home = await homeWithFact();
      const held = how === "closed" ? undefined : new Database(join(home, "memory/store.sqlite"));
      held?.exec("PRAGMA wal_autocheckpoint = 0; CREATE TABLE beside (x); DROP TABLE beside");
      const before = bytesIn(home);
      const shown = lily(home, "ask", "/memory show");
      expect(shown).toMatchObject({ code: 0 });
      expect(shown.stdout).toContain("jasmine");
      expect(shown.stderr).toContain("cannot be written");
      for (const args of [["sessions"], ["verify"], ["ask", "/history"]])
        expect(lily(home, ...args)).toMatchObject({ code: 0 });
      const exported = join(mkdtempSync(join(tmpdir(), "lily-out-")), "facts.json");
      expect(lily(home, "ask", `/memory export ${exported}`)).toMatchObject({ code: 0 });
      expect(readFileSync(exported, "utf8")).toContain("jasmine");
      const told = lily(home, "ask", "--json", "a message");
      expect(told.code).toBe(73);
      expect(told.stdout).toContain('"code":"storage_readonly"');
      expect(told.stdout.trim().split("\n")).toHaveLength(1);
      expect(bytesIn(home)).toEqual(before);
      held?.close();
    },
  );

  it("is examined and backed up to another place (F-8)", async () => {
    const home = await homeWithFact();
    expect(lily(home, "doctor")).toMatchObject({ code: 0, stderr: "" });
    const backup = join(mkdtempSync(join(tmpdir(), "lily-out-")), "backup");
    expect(lily(home, "backup", backup)).toMatchObject({ code: 0 });
    expect(existsSync(join(backup, "manifest.json"))).toBe(true);
    expect(lily(home, "backup").code).toBe(73);
  });
});
