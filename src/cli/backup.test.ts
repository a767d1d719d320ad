import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { emptyHome, homeWith } from "#src/upkeep/testing/make-home.ts";
import { envelopeIn, runLine, type Ran } from "./testing/run-cli.ts";

const backUp = (home: string, folder?: string, json = false): Promise<Ran> =>
  runLine(home, ["backup", ...(folder === undefined ? [] : [folder]), ...(json ? ["--json"] : [])]);

describe("lily backup", () => {
  it("tells of each step on the error stream, and where the backup is on the other", async () => {
    const { folder } = await homeWith("one");
    const ran = await backUp(folder);
    expect(ran.code).toBe(0);
    const [made = ""] = readdirSync(join(folder, "backups"));
    expect(made).toMatch(/^\d{8}T\d{6}-\d{3}Z$/u);
    expect(ran.stdout).toContain(`to ${join(folder, "backups", made)}.`);
    expect(ran.stderr).toMatch(
      /^Copied and checked the checkpoints, .*\nCopied and checked the store, .*\n$/u,
    );
  });

  it("gives programs one envelope and nothing else", async () => {
    const { folder } = await homeWith("one");
    const ran = await backUp(folder, "mine", true);
    expect(ran.stderr).toBe("");
    const { ok, code, data } = envelopeIn(ran);
    expect({ ok, code }).toEqual({ ok: true, code: "backed_up" });
    const shape = z.object({ folder: z.string(), manifest: z.object({ program: z.string() }) });
    const program = expect.stringMatching(/^\d+\.\d+\.\d+$/u) as unknown;
    expect(shape.parse(data)).toEqual({ folder: join(folder, "mine"), manifest: { program } });
  });

  it.each([
    ["postgres", "pg_dump"],
    ["memory", "keeps nothing"],
  ])("is refused on the backend %s, with what to do instead", async (backend, words) => {
    const { folder } = emptyHome();
    writeFileSync(join(folder, "config.json"), JSON.stringify({ storage: { backend } }));
    const ran = await backUp(folder);
    expect(ran).toMatchObject({ code: 69, stdout: "" });
    expect(ran.stderr).toContain(words);
  });

  it("is refused where there is no home folder, and makes none", async () => {
    const folder = join(emptyHome().folder, "mistyped");
    expect(await backUp(folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(folder) as unknown,
    });
    expect(readdirSync(join(folder, ".."))).toEqual([]);
  });
});
