import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { hashApiKey, newApiKey } from "#src/server/auth/key-entries.ts";
import { openAuthenticator } from "#src/server/auth/authenticator.ts";
import { envelopeIn, runLine } from "./testing/run-cli.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lily-keys-cli-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const madeSchema = z.object({ key: z.string(), id: z.string(), hash: z.string() });

const keys = (args: readonly string[], env: Record<string, string> = {}) =>
  runLine(home, ["keys", "--json", ...args], "", env);

async function make(...args: string[]) {
  const made = await keys(["new", ...args]);
  expect(made.code).toBe(0);
  return madeSchema.parse(envelopeIn(made).data);
}

const revoke = (which: string, env = {}) => keys(["revoke", which], env);

const fileText = () => readFileSync(join(home, "api-keys.json"), "utf8");

function ownerOf(key: string): Promise<string> {
  const request = new Request("http://lily.example/", { headers: { "x-api-key": key } });
  return openAuthenticator({}, home)
    .authenticate(request)
    .then(
      ({ owner }) => owner,
      () => "refused",
    );
}

describe("lily keys new", () => {
  it("makes a key that the server knows, and keeps its hash where nobody else can read it", async () => {
    const made = await make("Ana, Müller", "--label", "laptop", "--expires", "2999-01-31");
    expect(await ownerOf(made.key)).toBe("Ana, Müller");
    expect(JSON.parse(fileText())).toEqual([
      {
        owner: "Ana, Müller",
        hash: hashApiKey(made.key),
        label: "laptop",
        expires: "2999-01-31T00:00:00.000Z",
      },
    ]);
    expect(fileText()).not.toContain(made.key);
    expect(readdirSync(home)).toEqual(["api-keys.json"]);
    if (process.platform !== "win32") expect(statSync(join(home, "api-keys.json")).mode & 0o777).toBe(0o600);
  });

  it("shows a person the key on a line of its own", async () => {
    const { code, stdout } = await runLine(home, ["keys", "new", "ana"]);
    const [key = ""] = stdout.split("\n").filter((line) => line.startsWith("lily_"));
    expect([code, await ownerOf(key)]).toEqual([0, "ana"]);
    expect(stdout).toContain(`LILY_API_KEYS=ana=${hashApiKey(key)}\n`);
    expect(stdout).toMatch(/A key for "ana".*shown only now.*lily keys revoke [0-9a-f]{8}/su);
  });

  it.each([
    ["a blank owner", [" "], "session_key_invalid"],
    ["a time that is over", ["ana", "--expires", "2020-01-01"], "request_invalid"],
  ])("makes no key for %s", async (_name, wanted, code) => {
    const refused = await keys(["new", ...wanted]);
    expect([refused.code, envelopeIn(refused).code]).toEqual([2, code]);
    expect(readdirSync(home)).toEqual([]);
  });

  it("leaves a file alone that it cannot read", async () => {
    writeFileSync(join(home, "api-keys.json"), "[", { mode: 0o600 });
    const refused = await keys(["new", "ana"]);
    expect([refused.code, envelopeIn(refused).code, fileText()]).toEqual([78, "config_invalid", "["]);
  });
});

describe("lily keys list", () => {
  it("shows the keys of file and environment, and neither a key nor a whole hash", async () => {
    const [ana, ben] = [await make("ana", "--label", "laptop"), newApiKey()];
    const env = { LILY_API_KEYS: `ben=${hashApiKey(ben)}` };
    const listed = await keys(["list"], env);
    expect(envelopeIn(listed).data).toMatchObject({
      keys: [
        { id: ana.id, owner: "ana", label: "laptop", state: "for good", from: "file" },
        { owner: "ben", label: null, from: "LILY_API_KEYS" },
      ],
    });
    const { stdout } = await runLine(home, ["keys", "list"], "", env);
    expect(stdout).toMatch(/ana +laptop +for good +file/u);
    for (const secret of [ana.key, ben, ana.hash, ana.hash.slice(7)]) {
      expect(listed.stdout).not.toContain(secret);
      expect(stdout).not.toContain(secret);
    }
  });

  it("says that there are none", async () => {
    expect(envelopeIn(await keys(["list"]))).toMatchObject({ ok: true, code: "keys", data: { keys: [] } });
  });
});

describe("lily keys revoke", () => {
  it.each<[string, (made: z.infer<typeof madeSchema>) => string]>([
    ["the id", ({ id }) => id],
    ["its first digits", ({ id }) => id.slice(0, 4).toUpperCase()],
    ["the whole hash", ({ hash }) => hash],
    ["the label", () => "laptop"],
    ["the key itself", ({ key }) => key],
  ])("takes back the key by %s, and no other", async (_name, which) => {
    const [ana, ben] = [await make("ana", "--label", "laptop"), await make("ben")];
    expect((await revoke(which(ana))).code).toBe(0);
    expect([await ownerOf(ana.key), await ownerOf(ben.key)]).toEqual(["refused", "ben"]);
  });

  it("does not open the server when the last key is gone", async () => {
    const { id } = await make("ana");
    await revoke(id);
    expect([fileText().trim(), openAuthenticator({}, home).isOpen]).toEqual(["[]", false]);
  });

  it("asks which one, when several have the label", async () => {
    const made = [await make("ana", "--label", "laptop"), await make("ben", "--label", "laptop")];
    const refused = await revoke("laptop");
    expect([refused.code, envelopeIn(refused).message]).toEqual([
      2,
      expect.stringContaining(made.map(({ id }) => id).join(", ")),
    ]);
    expect(JSON.parse(fileText())).toHaveLength(2);
  });

  it.each(["", "abc", "nothing", "sha256:", newApiKey()])(
    "finds no key by %j, and does not repeat it",
    async (which) => {
      await make("ana");
      const refused = await revoke(which);
      expect([refused.code, envelopeIn(refused).ok]).toEqual([2, false]);
      if (which.length > 10) expect(refused.stdout).not.toContain(which);
      expect(JSON.parse(fileText())).toHaveLength(1);
    },
  );

  it("says where a key of the environment is", async () => {
    const key = newApiKey();
    const refused = await revoke(key, { LILY_API_KEYS: `ana=${hashApiKey(key)}` });
    expect([refused.code, envelopeIn(refused).message]).toEqual([
      2,
      expect.stringContaining("LILY_API_KEYS"),
    ]);
  });
});
