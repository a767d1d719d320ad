/** `GET /health`, `/ready` and `/openapi.json`: for load balancers and for programs that look for the routes. */
import { createRoute, z, type OpenAPIHono } from "@hono/zod-openapi";
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";
import { answers, PREFIX, type HttpEnv, type RouteServices } from "./route.ts";

const showHealth = createRoute({
  method: "get",
  path: `${PREFIX}/health`,
  operationId: "showHealth",
  summary: "Whether the process answers; touches nothing else",
  security: [],
  responses: answers(z.strictObject({ status: z.literal("ok") })),
});

const showReadiness = createRoute({
  method: "get",
  path: `${PREFIX}/ready`,
  operationId: "showReadiness",
  summary: "Whether the storage answers and new requests are taken",
  security: [],
  responses: answers(z.strictObject({ status: z.literal("ready") })),
});

/** Adds the routes. They ask for no login and store nothing. */
export function addOperations(app: OpenAPIHono<HttpEnv>, services: RouteServices): void {
  const description = {
    openapi: "3.1.0",
    info: {
      title: "Lily",
      version: "1",
      description:
        "Conversations by session key. A key in a path is percent-encoded as encodeURIComponent does.",
    },
  };
  app.openapi(showHealth, (context) => context.json({ status: "ok" as const }, 200));
  app.openapi(showReadiness, async (context) => {
    if (services.isDraining()) throw draining();
    await requireStorage(services);
    return context.json({ status: "ready" as const }, 200);
  });
  app.doc31(`${PREFIX}/openapi.json`, description);
}

/** Server that turns away new requests. */
export function draining(): LilyError {
  return new LilyError("draining", "the server is ending and takes no new requests", {
    next: "Send it again in a moment, with the same delivery id.",
  });
}

/** Says which kind of failure it is, and no more: nobody has logged in. */
async function requireStorage({ sessions, report }: RouteServices): Promise<void> {
  try {
    // Any read will do.
    await sessions.repository.readChain({ owner: "ready", sessionKey: "ready" });
  } catch (error) {
    report(`not ready: ${errorMessage(error)}`);
    throw new LilyError(isLilyError(error) ? error.code : "storage_failed", "the storage does not answer", {
      next: "Try again later; the log of the server says what is wrong.",
    });
  }
}
