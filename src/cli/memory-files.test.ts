import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { envelopeSchema, type Envelope } from "#src/kernel/envelope.ts";
import { runLine } from "./testing/run-cli.ts";

const fileSchema = z.looseObject({ records: z.array(z.record(z.string(), z.unknown())) });

async function ask(home: string, message: string): Promise<Envelope> {
  const { stdout } = await runLine(home, ["ask", "--json", message]);
  return z.looseObject({ envelope: envelopeSchema }).parse(JSON.parse(stdout)).envelope;
}

/** A home with three facts, and the file that holds them. */
async function exported(): Promise<{ home: string; path: string; file: z.infer<typeof fileSchema> }> {
  const home = temporaryFolder();
  for (const text of ["I like jazz", "My bike is red", "I was born in Lisbon"])
    await ask(home, `/remember ${text}`);
  const path = join(home, "my facts.json");
  await ask(home, `/memory export "${path}"`);
  return { home, path, file: fileSchema.parse(JSON.parse(readFileSync(path, "utf8"))) };
}

describe("a memory file in the terminal", () => {
  it("is written and read by a path in quotes, in each encoding that editors save", async () => {
    const { path, file } = await exported();
    const home = temporaryFolder();
    for (const [encoding, counts] of [
      ["utf8", { added: 3, known: 0 }],
      ["utf16le", { added: 0, known: 3 }],
    ] as const) {
      writeFileSync(path, Buffer.from(`\uFEFF${JSON.stringify(file)}`, encoding));
      expect((await ask(home, `/memory import "${path}"`)).data).toMatchObject(counts);
    }
  });

  it("gives what can be read, and says which records cannot and why", async () => {
    const { path, file } = await exported();
    const [first, second, third] = file.records;
    const records = [{ ...first, created_at: "2026-01-01T00:00:00" }, second, { ...third, owner: "bob" }];
    writeFileSync(path, JSON.stringify({ ...file, records }));
    const home = temporaryFolder();
    expect(await ask(home, `/memory import ${path}`)).toMatchObject({
      code: "memory_imported",
      message:
        "1 new, 2 not readable (created_at is no time such as 2026-01-31T08:00:00.000Z: record 1; " +
        "no record has a field owner: record 3).",
    });
    expect((await ask(home, "/memory show")).data).toMatchObject({ total: 1 });
  });

  it("of a newer Lily changes nothing", async () => {
    const { path, file } = await exported();
    const records = file.records.map((record) => ({ ...record, schema_version: 2 }));
    writeFileSync(path, JSON.stringify({ ...file, records }));
    const home = temporaryFolder();
    expect(await ask(home, `/memory import ${path}`)).toMatchObject({
      ok: false,
      code: "memory_input_invalid",
      message: `${path} was not imported: no record of it can be read (a newer Lily wrote it: records 1, 2, 3)`,
    });
    expect((await ask(home, "/memory show")).data).toMatchObject({ total: 0 });
  });
});

describe("a command about memory that is not understood", () => {
  it("is told how that part is written, and of a lone -- only where it takes a text", async () => {
    const home = temporaryFolder();
    expect((await ask(home, "/memory review reject")).next).toBe("Write /memory review reject <id>.");
    expect((await ask(home, "/remember")).next).toContain("comes behind a lone --");
  });

  it.each(["/remember --foo my", "/remember --expires never my", "/memory remember my"])(
    "is refused by the policy when it holds a secret: %s …",
    async (begin) => {
      expect(await ask(temporaryFolder(), `${begin} password is hunter2Zx`)).toMatchObject({
        code: "memory_policy_denied",
        data: { rule: "password" },
      });
    },
  );

  it("is told of the parts that begin as it does, and of no others", async () => {
    expect(await ask(temporaryFolder(), "/memory long task")).toMatchObject({
      message: "which part of /memory long task?",
      next: "Write /memory long task show --namespace <task> [words] [--all].",
    });
  });

  it("confirms none of several facts when one of the ids is wrong, and says so", async () => {
    const home = temporaryFolder();
    const kept = await ask(home, "/remember I like jazz");
    const { short } = z.looseObject({ short: z.string() }).parse(kept.data?.["record"]);
    expect(await ask(home, `/memory verify ${short} ffff`)).toMatchObject({
      code: "memory_not_found",
      next: expect.stringContaining("Nothing was confirmed."),
    });
    expect((await ask(home, `/memory verify ${short}`)).message).toBe(
      `“I like jazz” (${short}) is confirmed.`,
    );
  });
});
