/** Checks JSON Web Tokens: signature, times, issuer, audience, and the claim that names the owner. */
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from "jose";
import type { Clock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { parseOwner } from "#src/sessions/session-key.ts";
import type { TokenSettings } from "./token-settings.ts";

/** The owner that a token names; `undefined` when it does not hold. @throws {LilyError} `internal` without the signer's keys */
export type TokenVerifier = (token: string) => Promise<string | undefined>;

/** Longest wait for the signer's public keys, in milliseconds. */
const JWKS_TIMEOUT_MS = 5000;

/** Makes the verifier. Public keys are fetched with the first token and kept; a token with a new key fetches them anew. */
export function createTokenVerifier(settings: TokenSettings, clock: Pick<Clock, "now">): TokenVerifier {
  const verify = verifierOf(settings.trust);
  return async (token) => {
    try {
      const { payload } = await verify(token, {
        requiredClaims: ["exp"],
        currentDate: new Date(clock.now()),
        ...(settings.issuer === undefined ? {} : { issuer: settings.issuer }),
        ...(settings.audience === undefined ? {} : { audience: settings.audience }),
      });
      return ownerIn(payload, settings.ownerClaim);
    } catch (error) {
      if (isVerdict(error)) return undefined;
      throw new LilyError("internal", "the public keys that check tokens cannot be fetched", {
        next: "Try again; if it stays, check LILY_JWT_JWKS_URL on the server.",
        cause: error,
      });
    }
  };
}

/** Each kind of key fixes its algorithms: a public key is never taken as the secret of HS256, and `none` is none of them. */
function verifierOf(trust: TokenSettings["trust"]) {
  if (trust.kind === "secret") {
    return (token: string, options: JWTVerifyOptions) =>
      jwtVerify(token, trust.secret, { ...options, algorithms: ["HS256"] });
  }
  const keys = createRemoteJWKSet(trust.url, { timeoutDuration: JWKS_TIMEOUT_MS });
  return (token: string, options: JWTVerifyOptions) =>
    jwtVerify(token, keys, { ...options, algorithms: ["RS256", "ES256", "EdDSA"] });
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
