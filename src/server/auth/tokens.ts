/** JSON Web Tokens: which are accepted, by the environment, and how one is checked. */
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import type { Environment } from "#src/app/config.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { parseOwner } from "#src/sessions/session-key.ts";
import { isLoopbackHost } from "./open-mode.ts";

/** The owner that a token names; `undefined` when it does not hold. @throws {LilyError} `internal` without the signer's keys */
export type TokenVerifier = (token: string) => Promise<string | undefined>;

/** Longest wait for the signer's public keys, in milliseconds. */
const JWKS_TIMEOUT_MS = 5000;

/** A public key is never taken as the secret of HS256, and `none` is none of them. */
const ALGORITHMS = ["RS256", "ES256", "EdDSA"];

/** What means nothing without the signer's keys. */
const DEPENDENT = ["LILY_JWT_ISSUER", "LILY_JWT_AUDIENCE", "LILY_JWT_OWNER_CLAIM"];

/**
 * Makes the verifier by `LILY_JWT_JWKS_URL` and what belongs to it; `undefined` when no token is accepted. Public keys are
 * fetched with the first token and kept; a token with a new key fetches them anew. Without `LILY_JWT_AUDIENCE` a token that
 * the signer made for another program is accepted too.
 *
 * @throws {LilyError} `config_invalid`
 */
export function openTokenVerifier(env: Environment, clock: Pick<Clock, "now">): TokenVerifier | undefined {
  const url = jwksUrl(env);
  if (url === undefined) return undefined;
  const keys = createRemoteJWKSet(url, { timeoutDuration: JWKS_TIMEOUT_MS });
  const [issuer, audience] = [setting(env, "LILY_JWT_ISSUER"), setting(env, "LILY_JWT_AUDIENCE")];
  const claim = setting(env, "LILY_JWT_OWNER_CLAIM") ?? "sub";
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        requiredClaims: ["exp"],
        currentDate: new Date(clock.now()),
        ...(issuer === undefined ? {} : { issuer }),
        ...(audience === undefined ? {} : { audience }),
      });
      return ownerIn(payload, claim);
    } catch (error) {
      if (isVerdict(error)) return undefined;
      throw new LilyError("internal", "the public keys that check tokens cannot be fetched", {
        next: "Try again; if it stays, check LILY_JWT_JWKS_URL on the server.",
        cause: error,
      });
    }
  };
}

function jwksUrl(env: Environment): URL | undefined {
  // A server that took tokens until now must not become one that takes everybody.
  if (setting(env, "LILY_JWT_SECRET") !== undefined)
    throw invalid("LILY_JWT_SECRET is set, and tokens with a shared secret are not accepted any more", {
      next: "Unset it; use LILY_JWT_JWKS_URL, or a key for each owner: lily keys new <owner>.",
    });
  const text = setting(env, "LILY_JWT_JWKS_URL");
  if (text === undefined) {
    const lonely = DEPENDENT.find((name) => setting(env, name) !== undefined);
    if (lonely === undefined) return undefined;
    throw invalid(`${lonely} is set, but no token can be checked`, { next: "Set LILY_JWT_JWKS_URL." });
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname))) return url;
  throw invalid("LILY_JWT_JWKS_URL is no https address", {
    next: "Plain http is accepted for this machine only.",
  });
}

/** Whether the error is about the token; else it is about the signer's keys. */
function isVerdict(error: unknown): boolean {
  // The base class itself says that the address answered with something else than keys.
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  return error instanceof errors.JOSEError && error.code !== errors.JOSEError.code;
}

function ownerIn(payload: JWTPayload, claim: string): string | undefined {
  if (!Object.hasOwn(payload, claim)) return undefined;
  try {
    return parseOwner(payload[claim]);
  } catch {
    // A text that cannot be an owner names nobody.
    return undefined;
  }
}

function setting(env: Environment, name: string): string | undefined {
  const text = env[name]?.trim() ?? "";
  return text === "" ? undefined : text;
}

function invalid(message: string, options: { readonly next: string }): LilyError {
  return new LilyError("config_invalid", message, options);
}
