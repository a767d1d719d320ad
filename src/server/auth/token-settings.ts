/** Which JSON Web Tokens a server accepts, from the environment. */
import { LilyError } from "#src/kernel/errors.ts";
import { isLoopbackHost } from "./local-host.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** How tokens are checked. */
export interface TokenSettings {
  /** The secret of HS256, or the address of the signer's public keys. Never both: each fixes its own algorithms. */
  readonly trust:
    | { readonly kind: "secret"; readonly secret: Uint8Array }
    | { readonly kind: "jwks"; readonly url: URL };
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  /** Claim whose value is the owner. */
  readonly ownerClaim: string;
}

/** Shortest secret of HS256 in bytes: as long as its hash (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32;

const DEPENDENT = ["LILY_JWT_ISSUER", "LILY_JWT_AUDIENCE", "LILY_JWT_OWNER_CLAIM"];

/**
 * Reads `LILY_JWT_SECRET` or `LILY_JWT_JWKS_URL` with what belongs to them; `undefined` when no token is accepted.
 * Without `LILY_JWT_AUDIENCE` a token that the signer made for another program is accepted too.
 *
 * @throws {LilyError} `config_invalid`
 */
export function readTokenSettings(env: Environment): TokenSettings | undefined {
  const secret = setting(env, "LILY_JWT_SECRET");
  const url = setting(env, "LILY_JWT_JWKS_URL");
  if (secret !== undefined && url !== undefined)
    throw invalid("LILY_JWT_SECRET and LILY_JWT_JWKS_URL are both set", "Keep one of them.");
  const trust = secret === undefined ? url && jwksTrust(url) : secretTrust(secret);
  if (trust === undefined || trust === "") {
    const lonely = DEPENDENT.find((name) => setting(env, name) !== undefined);
    if (lonely === undefined) return undefined;
    throw invalid(
      `${lonely} is set, but no token can be checked`,
      "Set LILY_JWT_SECRET or LILY_JWT_JWKS_URL.",
    );
  }
  return {
    trust,
    issuer: setting(env, "LILY_JWT_ISSUER"),
    audience: setting(env, "LILY_JWT_AUDIENCE"),
    ownerClaim: setting(env, "LILY_JWT_OWNER_CLAIM") ?? "sub",
  };
}

function secretTrust(text: string): TokenSettings["trust"] {
  const secret = new TextEncoder().encode(text);
  if (secret.length >= MIN_SECRET_BYTES) return { kind: "secret", secret };
  throw invalid(
    `LILY_JWT_SECRET has ${secret.length} bytes, fewer than ${MIN_SECRET_BYTES}`,
    "Make one with: openssl rand -base64 48",
  );
}

function jwksTrust(text: string): TokenSettings["trust"] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname)))
    return { kind: "jwks", url };
  throw invalid("LILY_JWT_JWKS_URL is no https address", "Plain http is accepted for this machine only.");
}

function setting(env: Environment, name: string): string | undefined {
  const text = env[name]?.trim() ?? "";
  return text === "" ? undefined : text;
}

function invalid(message: string, next: string): LilyError {
  return new LilyError("config_invalid", message, { next });
}
