/** The login of a LangGraph server: which requests need none, which nobody may make, and who makes the others. */
import { getPath } from "hono/utils/url";
import { loopbackOwner } from "#src/app/loopback.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { type Login, nobody, operatorLogin, trustedLogin, userLogin } from "./access.ts";
import { hashApiKey, isSameHash } from "./key-entries.ts";
import { type Authenticator, credentialIn } from "./authenticator.ts";
import { forbidden } from "./refusals.ts";
import { type MayRead, passesGuard } from "./server-routes.ts";

/** What a load balancer reads, before it can have a key. */
const OPEN_PATH = "/ok";

export interface ServerLoginDeps {
  readonly authenticator: Authenticator;
  /** Address from which the request that is being answered comes; `undefined` for one within the process. */
  readonly peerAddress: () => string | undefined;
  readonly mayRead: MayRead;
  /** Hash of the key of whoever runs the server, as `lily keys new` prints it; absent: nobody does from outside. */
  readonly operator?: string | undefined;
}

/** What an erasure asks for; routes beside these may ask for no permission. */
const OPERATED = /^\/(?:store\/(?:items(?:\/search)?|namespaces)|threads\/(?:search|[0-9a-f-]{36}))$/iu;

/** Makes what finds out who makes a request. @throws {LilyError} what the authenticator throws, `session_not_yours` */
export function createServerLogin({ authenticator, peerAddress, mayRead, operator }: ServerLoginDeps) {
  return async (request: Request): Promise<Login> => {
    // As the router reads it, which decodes: %74 is the "t" of a route.
    const path = getPath(request);
    // Wipes everything, and the server asks for no permission.
    if (path.startsWith("/internal/"))
      throw forbidden(`${path} is not served`, "There is no other way to it.");
    const { method } = request;
    const isRead = method === "GET" || method === "HEAD";
    if (method === "OPTIONS" || (isRead && path === OPEN_PATH)) return nobody();
    const trusted = loopbackOwner(request.headers);
    if (trusted !== undefined) return trustedLogin(trusted);
    if (operator !== undefined && isSameHash(hashApiKey(credentialIn(request.headers) ?? ""), operator)) {
      if (OPERATED.test(path)) return operatorLogin();
      throw forbidden(`${path} is not for the operator`, "Use a key of a user.");
    }
    const { owner } = await authenticator.authenticate(request, peerAddress());
    if (authenticator.isOpen) return trustedLogin(owner);
    if (await passesGuard({ method, path, owner }, mayRead)) return userLogin(owner);
    throw new LilyError("session_not_yours", "there is no such thread, run or route for you", {
      next: "Create the thread first, and use runs of that thread.",
    });
  };
}
