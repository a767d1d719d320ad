import { base64url, SignJWT, UnsecuredJWT, type JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openAuthenticator } from "./authenticator.ts";
import { startJwksServer, type JwksServer } from "./testing/jwks-server.ts";
import { openTokenVerifier } from "./tokens.ts";

const NO_HOME = "/nonexistent/lily";
const SECRET = "a-secret-of-more-than-thirty-two-bytes";
const NOW = Date.parse("2026-03-01T09:00:00Z");
const now = NOW / 1000;
const clock = createManualClock(NOW);

const good = { sub: "ana", exp: now + 60 };

/** The owner, or the code of the refusal. */
async function outcome(token: string, env: Record<string, string>): Promise<string> {
  const login = openAuthenticator(env, NO_HOME, { clock });
  const request = new Request("http://lily.example/", { headers: { authorization: `Bearer ${token}` } });
  return login.authenticate(request).then(
    ({ owner }) => `owner ${owner}`,
    (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : String(error)),
  );
}

/** Signs with a secret, which no server accepts. */
const withSecret = (claims: JWTPayload, secret = SECRET, alg = "HS256") =>
  new SignJWT(claims).setProtectedHeader({ alg, kid: "key-ES256" }).sign(new TextEncoder().encode(secret));

describe("a token", () => {
  let signer: JwksServer;
  let env: { LILY_JWT_JWKS_URL: string };
  beforeAll(async () => {
    signer = await startJwksServer("ES256");
    env = { LILY_JWT_JWKS_URL: signer.url };
  });
  afterAll(() => signer.close());
  const signed = (claims: JWTPayload) => signer.sign(claims);

  it("names the owner by sub, or by the configured claim", async () => {
    expect(await outcome(await signed(good), env)).toBe("owner ana");
    const byMail = { ...env, LILY_JWT_OWNER_CLAIM: "email" };
    expect(await outcome(await signed({ ...good, email: "ana@example.org" }), byMail)).toBe(
      "owner ana@example.org",
    );
    expect(await outcome(await signed(good), byMail)).toBe("unauthenticated");
  });

  it.each<[string, JWTPayload, Record<string, string>?]>([
    ["expired", { ...good, exp: now }],
    ["not valid yet", { ...good, nbf: now + 1 }],
    ["without an end", { sub: "ana" }],
    ["without an owner", { exp: now + 60 }],
    ["with a blank owner", { ...good, sub: " " }],
    ["with control characters in the owner", { ...good, sub: "a\u0000b" }],
    ["with too long an owner", { ...good, sub: "a".repeat(1025) }],
    ["without an issuer where one is asked for", good, { LILY_JWT_ISSUER: "https://id.example" }],
    [
      "of another issuer",
      { ...good, iss: "https://evil.example" },
      { LILY_JWT_ISSUER: "https://id.example" },
    ],
    ["without an audience where one is asked for", good, { LILY_JWT_AUDIENCE: "lily" }],
    ["for another audience", { ...good, aud: ["mail", "lily2"] }, { LILY_JWT_AUDIENCE: "lily" }],
  ])("is refused when it is %s", async (_name, claims, more = {}) => {
    expect(await outcome(await signed(claims), { ...env, ...more })).toBe("unauthenticated");
  });

  it("of the right issuer and audience is accepted", async () => {
    const token = await signed({ ...good, iss: "https://id.example", aud: ["mail", "lily"] });
    const strict = { ...env, LILY_JWT_ISSUER: "https://id.example", LILY_JWT_AUDIENCE: "lily" };
    expect(await outcome(token, strict)).toBe("owner ana");
  });

  it.each<[string, () => string | Promise<string>]>([
    ["a secret", () => withSecret(good)],
    ["another secret algorithm", () => withSecret(good, SECRET + SECRET, "HS512")],
    ["no signature at all", () => new UnsecuredJWT(good).encode()],
    ["none written in capital letters", () => `${part({ alg: "NONE" })}.${part(good)}.`],
    ["an empty signature", async () => `${(await signed(good)).split(".").slice(0, 2).join(".")}.`],
    [
      "changed claims",
      async () => (await signed(good)).replace(/\.[^.]+\./u, `.${part({ ...good, sub: "ben" })}.`),
    ],
    ["two parts", () => "a.b"],
    ["six parts", () => "a.b.c.d.e.f"],
    ["no JSON", () => "####.####.####"],
    ["10,000 characters", () => "a".repeat(10_000)],
    ["an object as owner", () => signed({ ...good, sub: { name: "ana" } as unknown as string })],
  ])("is refused with %s", async (_name, make) => {
    expect(await outcome(await make(), env)).toBe("unauthenticated");
  });
});

const part = (value: object): string => base64url.encode(JSON.stringify(value));

describe.each(["RS256", "ES256", "EdDSA"] as const)("a token signed with a key of the signer (%s)", (alg) => {
  let signer: JwksServer;
  beforeAll(async () => {
    signer = await startJwksServer(alg);
  });
  afterAll(() => signer.close());
  const env = () => ({ LILY_JWT_JWKS_URL: signer.url });

  it("names the owner", async () => {
    expect(await outcome(await signer.sign(good), env())).toBe("owner ana");
    expect(await outcome(await signer.sign({ ...good, exp: now }), env())).toBe("unauthenticated");
  });

  it("is refused when the public key was taken for a secret", async () => {
    const confused = await new SignJWT(good)
      .setProtectedHeader({ alg: "HS256", kid: `key-${alg}` })
      .sign(new TextEncoder().encode(signer.publicPem));
    expect(await outcome(confused, env())).toBe("unauthenticated");
  });

  it("is refused without a signature, by another signer, and under an unknown key id", async () => {
    const other = await startJwksServer(alg);
    const unknown = await new SignJWT(good).setProtectedHeader({ alg, kid: "other" }).sign(signer.privateKey);
    const tokens = [new UnsecuredJWT(good).encode(), await other.sign(good), unknown];
    await other.close();
    for (const token of tokens) expect(await outcome(token, env())).toBe("unauthenticated");
  });

  it("brings its own key along in vain", async () => {
    const other = await startJwksServer(alg);
    const token = await new SignJWT(good)
      .setProtectedHeader({ alg, kid: `key-${alg}`, jku: other.url })
      .sign(other.privateKey);
    expect(await outcome(token, env())).toBe("unauthenticated");
    expect(other.fetches()).toBe(0);
    await other.close();
  });
});

describe("the keys of the signer", () => {
  it("are fetched once for many tokens, and not for what is no token", async () => {
    const signer = await startJwksServer("ES256");
    const login = openAuthenticator({ LILY_JWT_JWKS_URL: signer.url }, NO_HOME, { clock });
    const ask = (token: string) =>
      login
        .authenticate(new Request("http://lily.example/", { headers: { authorization: `Bearer ${token}` } }))
        .catch(() => undefined);
    await ask("no-token");
    await ask(new UnsecuredJWT(good).encode());
    expect(signer.fetches()).toBe(0);
    const token = await signer.sign(good);
    expect(await ask(token)).toMatchObject({ owner: "ana" });
    expect(await ask(token)).toMatchObject({ owner: "ana" });
    expect(signer.fetches()).toBe(1);
    await signer.close();
  });

  it.each([
    [500, "{}"],
    [200, "<html>"],
    [200, "{}"],
  ])("that cannot be had (%i %s) are told apart from a bad token", async (status, body) => {
    const signer = await startJwksServer("ES256");
    signer.answer(status, body);
    expect(await outcome(await signer.sign(good), { LILY_JWT_JWKS_URL: signer.url })).toBe("internal");
    await signer.close();
    expect(await outcome(await signer.sign(good), { LILY_JWT_JWKS_URL: signer.url })).toBe("internal");
  });
});

describe("settings of tokens", () => {
  it.each<[string, Record<string, string>, RegExp]>([
    ["a secret, as earlier versions took it", { LILY_JWT_SECRET: SECRET }, /not accepted any more/u],
    ["an address without encryption", { LILY_JWT_JWKS_URL: "http://id.example/" }, /no https address/u],
    ["a file", { LILY_JWT_JWKS_URL: "file:///etc/keys.json" }, /no https address/u],
    ["no address", { LILY_JWT_JWKS_URL: "id.example" }, /no https address/u],
    ["an issuer alone", { LILY_JWT_ISSUER: "https://id.example" }, /LILY_JWT_ISSUER is set, but no token/u],
    ["an audience alone", { LILY_JWT_AUDIENCE: "lily" }, /LILY_JWT_AUDIENCE is set, but no token/u],
  ])("with %s are refused at the start, and no secret is repeated", (_name, env, why) => {
    const open = () => openAuthenticator(env, NO_HOME);
    expect(open).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringMatching(why) }),
    );
    expect(open).not.toThrow(SECRET);
  });

  it("that are blank count as not set", () => {
    expect(openTokenVerifier({ LILY_JWT_SECRET: " ", LILY_JWT_ISSUER: "" }, clock)).toBeUndefined();
  });
});
