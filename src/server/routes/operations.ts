/** `GET /health`, `/ready` and `/openapi.json`: for load balancers and for programs that look for the routes. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";
import { addOpenRoute, draining, json, type RouteServices } from "./route.ts";

const healthSchema = z.strictObject({ status: z.literal("ok") });
const readySchema = z.strictObject({ status: z.literal("ready") });
const documentSchema = z.record(z.string(), z.unknown());

/** Adds the routes. They ask for no login and store nothing. */
export function addOperations(app: OpenAPIHono, services: RouteServices): void {
  addOpenRoute(app, services, {
    method: "get",
    path: "/health",
    summary: "Whether the process answers; touches nothing else",
    answer: healthSchema,
    handle: async () => json(healthSchema.parse({ status: "ok" })),
  });
  addOpenRoute(app, services, {
    method: "get",
    path: "/ready",
    summary: "Whether the storage answers and new requests are taken",
    answer: readySchema,
    async handle(request) {
      if (services.isDraining()) throw draining();
      await requireStorage(request, services);
      return json(readySchema.parse({ status: "ready" }));
    },
  });
  let document: unknown;
  addOpenRoute(app, services, {
    method: "get",
    path: "/openapi.json",
    summary: "This document",
    answer: documentSchema,
    handle: async () => json((document ??= describeApp(app))),
  });
}

/** Says which kind of failure it is, and no more: nobody has logged in. */
async function requireStorage(request: Request, { open, report }: RouteServices): Promise<void> {
  try {
    await open({ owner: "ready", request }).ready();
  } catch (error) {
    report(`not ready: ${errorMessage(error)}`);
    throw new LilyError(isLilyError(error) ? error.code : "storage_failed", "the storage does not answer", {
      next: "Try again later; the log of the server says what is wrong.",
    });
  }
}

function describeApp(app: OpenAPIHono): unknown {
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Lily",
      version: "1",
      description:
        "Conversations by session key. A key in a path is percent-encoded as encodeURIComponent does.",
    },
  });
}
