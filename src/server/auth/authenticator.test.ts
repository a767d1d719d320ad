import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { hashApiKey, newApiKey } from "./key-entries.ts";
import { type AuthenticatorOptions, openAuthenticator } from "./authenticator.ts";
import { writeKeyFile } from "./key-file.ts";

const NOW = Date.parse("2026-03-01T09:00:00Z");

let home: string;
let file: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lily-keys-"));
  file = join(home, "api-keys.json");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const [anaKey, benKey] = [newApiKey(), newApiKey()];
const ENV = { LILY_API_KEYS: `ana=${hashApiKey(anaKey)},b%C3%A9n%2C%20jr=${hashApiKey(benKey)}` };

const requestWith = (headers: Record<string, string>, url = "http://lily.example/threads") =>
  new Request(url, { headers });

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

async function codeOf(
  headers: Record<string, string>,
  env: Record<string, string> = ENV,
  options: AuthenticatorOptions = {},
): Promise<string> {
  const login = openAuthenticator(env, home, options);
  return login.authenticate(requestWith(headers)).then(
    ({ owner }) => `owner ${owner}`,
    (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "no code"),
  );
}

describe("a key", () => {
  it.each([
    ["Authorization", bearer(anaKey), "owner ana"],
    ["Authorization in lower case", { authorization: `bearer  ${anaKey}` }, "owner ana"],
    ["x-api-key", { "x-api-key": benKey }, "owner bén, jr"],
    ["both, when they agree", { "x-api-key": anaKey, ...bearer(anaKey) }, "owner ana"],
  ])("is taken from %s", async (_name, headers, expected) => {
    expect(await codeOf(headers)).toBe(expected);
  });

  it.each<[string, Record<string, string>]>([
    ["nothing", {}],
    ["an empty header", { authorization: "" }],
    ["Bearer without a token", { authorization: "Bearer" }],
    ["Bearer with a blank", { authorization: "Bearer   " }],
    ["another scheme", { authorization: `Basic ${anaKey}` }],
    ["another scheme beside a right key", { authorization: "Basic eDp5", "x-api-key": anaKey }],
    ["two headers that disagree", { "x-api-key": benKey, ...bearer(anaKey) }],
    ["a right key and an empty one", { "x-api-key": "", ...bearer(anaKey) }],
    ["two keys in one header", { "x-api-key": `${anaKey}, ${benKey}` }],
    ["two bearers in one header", { authorization: `Bearer ${anaKey}, Bearer ${benKey}` }],
    ["10,000 characters", bearer(`lily_${"A".repeat(9995)}`)],
    ["a wrong prefix", bearer(anaKey.replace("lily_", "sk-"))],
    ["another case", bearer(anaKey.toUpperCase())],
    ["a character less", bearer(anaKey.slice(0, -1))],
    ["a character more", bearer(`${anaKey}A`)],
    ["an unknown key", bearer(newApiKey())],
    ["the hash in place of the key", bearer(hashApiKey(anaKey))],
    ["the whole entry", bearer(`ana=${hashApiKey(anaKey)}`)],
    ["percent-encoded NUL", bearer(`${anaKey}%00`)],
    ["the name of a property", { "x-api-key": "__proto__" }],
  ])("is not %s", async (_name, headers) => {
    expect(await codeOf(headers)).toBe("unauthenticated");
  });

  it("that is refused is answered with one text, which repeats nothing of it", async () => {
    const login = openAuthenticator(ENV, home);
    const texts = await Promise.all(
      [{}, bearer("lily_guess"), bearer(newApiKey()), bearer("a.b.c"), { "x-api-key": "secret words" }].map(
        (headers) =>
          login
            .authenticate(requestWith(headers))
            .catch((error: unknown) => JSON.stringify([error, String(error)])),
      ),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).not.toMatch(/guess|secret words|a\.b\.c/u);
  });

  it("holds until the instant at which it expires", async () => {
    const clock = createManualClock(NOW);
    writeKeyFile(file, [{ owner: "ana", hash: hashApiKey(anaKey), expires: "2026-03-01T10:00:01+01:00" }]);
    const login = openAuthenticator({}, home, { clock });
    await expect(login.authenticate(requestWith(bearer(anaKey)))).resolves.toMatchObject({ owner: "ana" });
    clock.advance(1000);
    await expect(login.authenticate(requestWith(bearer(anaKey)))).rejects.toMatchObject({
      code: "unauthenticated",
    });
  });
});

describe("the key file", () => {
  it("is read again when it changes", async () => {
    writeKeyFile(file, [{ owner: "ana", hash: hashApiKey(anaKey) }]);
    const login = openAuthenticator({}, home);
    const ask = () => login.authenticate(requestWith(bearer(anaKey))).catch(() => "refused");
    expect(await ask()).toMatchObject({ owner: "ana" });
    writeKeyFile(file, [{ owner: "eva", hash: hashApiKey(anaKey) }]);
    expect(await ask()).toMatchObject({ owner: "eva" });
    writeKeyFile(file, []);
    expect([await ask(), login.isOpen]).toEqual(["refused", false]);
    rmSync(file);
    expect([await ask(), login.isOpen]).toEqual(["refused", false]);
  });

  it("closes an open server as soon as it is there", async () => {
    const login = openAuthenticator({}, home);
    expect(login.isOpen).toBe(true);
    writeKeyFile(file, [{ owner: "ana", hash: hashApiKey(anaKey) }]);
    expect(login.isOpen).toBe(false);
    await expect(login.authenticate(requestWith({}, "http://localhost/"))).rejects.toMatchObject({
      code: "unauthenticated",
    });
    await expect(login.authenticate(requestWith(bearer(anaKey)))).resolves.toMatchObject({ owner: "ana" });
  });

  it("that breaks while the server runs lets nobody in, also not with what it held before", async () => {
    writeKeyFile(file, [{ owner: "ana", hash: hashApiKey(anaKey) }]);
    const login = openAuthenticator({}, home);
    writeFileSync(file, "[");
    const asked = [1, 2].map(() => login.authenticate(requestWith(bearer(anaKey))));
    for (const one of asked) await expect(one).rejects.toMatchObject({ code: "config_invalid" });
    writeKeyFile(file, [{ owner: "ana", hash: hashApiKey(anaKey) }]);
    await expect(login.authenticate(requestWith(bearer(anaKey)))).resolves.toMatchObject({ owner: "ana" });
  });

  const entry = { owner: "ana", hash: hashApiKey(anaKey) };

  it.each<[string, unknown, RegExp]>([
    ["no list", {}, /expected array/iu],
    ["a key in place of its hash", [{ owner: "ana", hash: anaKey }], /sha256: and 64 hex/u],
    ["no owner", [{ hash: entry.hash }], /owner/u],
    ["a blank owner", [{ ...entry, owner: " " }], /blank/u],
    ["an unknown field", [{ ...entry, admin: true }], /admin/u],
    ["no instant", [{ ...entry, expires: "tomorrow" }], /expires/u],
    ["one hash twice", [entry, { ...entry, owner: "eva" }], /same hash/u],
  ])("with %s is refused at the start, and its content is not repeated", (_name, content, why) => {
    writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    const open = () => openAuthenticator({}, home);
    expect(open).toThrow(why);
    expect(open).toThrow(file);
    expect(open).not.toThrow(anaKey);
  });

  it("that is not JSON is refused without repeating it", () => {
    writeFileSync(file, anaKey, { mode: 0o600 });
    expect(() => openAuthenticator({}, home)).toThrow(/it is not JSON$/u);
  });

  it.skipIf(process.platform === "win32").each([0o640, 0o604, 0o620, 0o644])(
    "that others may use (%o) is refused with what to do",
    (mode) => {
      writeKeyFile(file, [entry]);
      chmodSync(file, mode);
      expect(() => openAuthenticator({}, home)).toThrow(
        expect.objectContaining({ code: "config_invalid", next: `Run: chmod 600 ${file}` }),
      );
    },
  );

  it("that is named must be there", async () => {
    const env = { LILY_API_KEYS_FILE: "other/keys.json" };
    expect(() => openAuthenticator(env, home)).toThrow(join(home, "other/keys.json"));
    writeKeyFile(join(home, "other/keys.json"), [entry]);
    expect(await codeOf(bearer(anaKey), env)).toBe("owner ana");
  });

  // Only Linux has a folder in which the system makes none.
  it.skipIf(!existsSync("/proc/self"))("in a folder that cannot be made is told of at once", () => {
    expect(() => writeKeyFile("/proc/nobody/home/api-keys.json", [entry])).toThrow(
      "/proc/nobody/home/api-keys.json cannot be written: ENOENT",
    );
  });

  it("may not give a key of the environment to another owner", () => {
    writeKeyFile(file, [{ ...entry, owner: "eva" }]);
    expect(() => openAuthenticator(ENV, home)).toThrow(/"ana" and "eva"/u);
  });
});

describe("LILY_API_KEYS", () => {
  it("may have line breaks, blanks and hashes in capital letters", async () => {
    const hash = `sha256:${hashApiKey(anaKey).slice(7).toUpperCase()}`;
    expect(
      await codeOf(bearer(anaKey), { LILY_API_KEYS: `\n eva=${hashApiKey(benKey)} ,\n ana=${hash}\n` }),
    ).toBe("owner ana");
  });

  it.each([
    ["a key in place of its hash", `ana=${anaKey}`],
    ["no owner", `=${hashApiKey(anaKey)}`],
    ["a blank owner", `%20=${hashApiKey(anaKey)}`],
    ["broken percent encoding", `%E0%A4%A=${hashApiKey(anaKey)}`],
    ["a short hash", `ana=${hashApiKey(anaKey).slice(0, -1)}`],
    ["words", "yes please"],
  ])("with %s is refused by number, and its text is not repeated", (_name, entry) => {
    const open = () => openAuthenticator({ LILY_API_KEYS: `eva=${hashApiKey(benKey)},${entry}` }, home);
    expect(open).toThrow(/^entry 2 of LILY_API_KEYS is not owner=sha256:<hex>$/u);
  });

  it("that is blank counts as not set", () => {
    expect(openAuthenticator({ LILY_API_KEYS: " \n" }, home).isOpen).toBe(true);
  });
});
