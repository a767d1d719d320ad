/** Who asks: the owner that a request's key or token stands for. */
import type { Environment } from "#src/app/config.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { isApiKey } from "./key-entries.ts";
import { openKeyRing } from "./key-file.ts";
import { requireLocal } from "./open-mode.ts";
import { unauthenticated } from "./refusals.ts";
import { openTokenVerifier } from "./tokens.ts";

/** Somebody who asks. */
export interface Identity {
  readonly owner: string;
  /** The login by which it is known: one API key, or whoever a token names. No secret; limits count by it. */
  readonly id: string;
}

/** Tells who asks. */
export type Authenticator = ReturnType<typeof openAuthenticator>;

export interface AuthenticatorOptions {
  /** Whose data it is in open mode; the configured owner. */
  readonly owner?: string;
  readonly clock?: Pick<Clock, "now">;
}

/** Longest key or token, in characters; web servers do not take much longer headers either. */
const MAX_LENGTH = 8192;

/**
 * Opens the login of a server: API keys (`LILY_API_KEYS`, `LILY_API_KEYS_FILE`, by default `api-keys.json` in `home`),
 * tokens (`LILY_JWT_…`), or open mode without both. The key file is read again whenever it changes.
 *
 * @throws {LilyError} `config_invalid`
 */
export function openAuthenticator(
  env: Environment,
  home: string,
  { owner = "local", clock = { now: () => Date.now() } }: AuthenticatorOptions = {},
) {
  const keys = openKeyRing(env, home);
  const verify = openTokenVerifier(env, clock);
  const allowsStudio = env["LILY_ALLOW_STUDIO"]?.trim() !== "0";
  const isOpen = () => verify === undefined && !keys.isConfigured();
  const identityOf = async (credential: string): Promise<Identity | undefined> => {
    if (isApiKey(credential)) {
      const entry = keys.find(credential, clock.now());
      return entry && { owner: entry.owner, id: entry.hash };
    }
    const named = await verify?.(credential);
    return named === undefined ? undefined : { owner: named, id: `token:${named}` };
  };
  return {
    /** Neither keys nor tokens are configured: programs of this machine are served without. May become false, never true. */
    get isOpen(): boolean {
      return isOpen();
    },
    /**
     * For whom the request is.
     *
     * @param peer address from which it comes; `undefined` for a request within the process
     * @throws {LilyError} `unauthenticated`, the same whatever was wrong; `forbidden` in open mode for other machines;
     *   `config_invalid` and `internal` when the server cannot check
     */
    async authenticate(request: Request, peer?: string): Promise<Identity> {
      if (isOpen()) {
        requireLocal(request, { peer, allowsStudio });
        // A key that comes along is not looked at: SDK clients send the ones they find in their environment.
        return { owner, id: "open" };
      }
      const credential = credentialIn(request.headers);
      const found = credential === undefined ? undefined : await identityOf(credential);
      if (found === undefined) throw unauthenticated();
      return found;
    },
  };
}

/**
 * The text of `Authorization: Bearer …` or `x-api-key`. `undefined` without one, with another scheme, with one that is
 * too long, and with two headers that disagree: which of them holds is not for the server to choose.
 */
export function credentialIn(headers: Headers): string | undefined {
  const authorization = headers.get("authorization");
  const key = headers.get("x-api-key");
  const bearer = /^Bearer +([^\s,]+)$/iu.exec(authorization ?? "")?.[1];
  if (authorization !== null && bearer === undefined) return undefined;
  if (bearer !== undefined && key !== null && bearer !== key) return undefined;
  const text = bearer ?? key ?? "";
  return text === "" || text.length > MAX_LENGTH ? undefined : text;
}
