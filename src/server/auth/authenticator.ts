/** Who asks: the owner that a request's key or token stands for. */
import type { Clock } from "#src/kernel/clock.ts";
import { readCredential } from "./credential.ts";
import { isApiKey } from "./api-key.ts";
import { openKeyRing } from "./key-ring.ts";
import { requireLocal } from "./open-mode.ts";
import { unauthenticated } from "./refusals.ts";
import { readTokenSettings } from "./token-settings.ts";
import { createTokenVerifier } from "./tokens.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Tells who asks. */
export interface Authenticator {
  /** Neither keys nor tokens are configured: programs of this machine are served without. May become false, never true. */
  readonly isOpen: boolean;
  /**
   * The owner for whom the request is.
   *
   * @throws {LilyError} `unauthenticated`, the same whatever was wrong; `forbidden` in open mode for other machines;
   *   `config_invalid` and `internal` when the server cannot check
   */
  authenticate(request: Request): Promise<{ readonly owner: string }>;
}

/** What {@link openAuthenticator} works with. */
export interface AuthenticatorOptions {
  /** Whose data it is in open mode; the configured owner. */
  readonly owner?: string;
  readonly clock?: Pick<Clock, "now">;
  /** Address of the peer; `undefined` where it is not known, as for a request within the process. */
  readonly peerAddress?: (request: Request) => string | undefined;
}

/**
 * Opens the login of a server: API keys (`LILY_API_KEYS`, `LILY_API_KEYS_FILE`, by default `api-keys.json` in `home`),
 * tokens (`LILY_JWT_…`), or open mode without both. The key file is read again whenever it changes.
 *
 * @throws {LilyError} `config_invalid`
 */
export function openAuthenticator(
  env: Environment,
  home: string,
  { owner = "local", clock = { now: () => Date.now() }, peerAddress }: AuthenticatorOptions = {},
): Authenticator {
  const keys = openKeyRing(env, home);
  const settings = readTokenSettings(env);
  const verify = settings === undefined ? undefined : createTokenVerifier(settings, clock);
  const allowsStudio = env["LILY_ALLOW_STUDIO"]?.trim() !== "0";
  const isOpen = () => verify === undefined && !keys.isConfigured();
  const ownerOf = async (credential: string) =>
    isApiKey(credential) ? keys.ownerOf(credential, clock.now()) : verify?.(credential);
  return {
    get isOpen() {
      return isOpen();
    },
    async authenticate(request) {
      if (isOpen()) {
        requireLocal(request, { peer: peerAddress?.(request), allowsStudio });
        // A key that comes along is not looked at: SDK clients send the ones they find in their environment.
        return { owner };
      }
      const credential = readCredential(request.headers);
      const found = credential === undefined ? undefined : await ownerOf(credential);
      if (found === undefined) throw unauthenticated();
      return { owner: found };
    },
  };
}
