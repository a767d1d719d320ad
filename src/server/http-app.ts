/** The HTTP routes by session key: what is asked of every request before them, and how every refusal is answered. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { LilyError } from "#src/kernel/errors.ts";
import { parseSessionKey } from "#src/sessions/session-key.ts";
import type { Identity } from "./auth/authenticator.ts";
import { createRequestRate } from "./limits.ts";
import { answerProblem, refuseInvalid } from "./problem.ts";
import { requireExactPath } from "./request-path.ts";
import { addOperations, draining } from "./routes/operations.ts";
import { addExplanations } from "./routes/explanations.ts";
import { PREFIX, type HttpEnv, type RouteServices } from "./routes/route.ts";
import { addSessions } from "./routes/sessions.ts";
import { addTurns } from "./routes/turns.ts";

/** What keeps one caller from taking the server from the others. */
export interface HttpLimits {
  /** Longest body in bytes. */
  readonly bodyBytes: number;
  /** Requests of one caller in a minute, but for those that stop an answer; 0 is no limit. */
  readonly requestsPerMinute: number;
  /** Turns of one caller that run or wait at once; 0 is no limit. */
  readonly turnsAtOnce: number;
}

export interface HttpAppOptions extends RouteServices {
  /** Who asks. @throws {LilyError} `unauthenticated`, `forbidden` */
  readonly authenticate: (context: Context) => Promise<Identity>;
  readonly limits: HttpLimits;
  /** Origins of web pages that may read the answers. */
  readonly corsOrigins: readonly string[];
}

/** Makes the app. Its paths begin with `/lily/v1`. */
export function createHttpApp(options: HttpAppOptions): OpenAPIHono<HttpEnv> {
  const { limits, report, corsOrigins } = options;
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInvalid });
  app.onError((error, context) => answerProblem(context, error, report));
  app.notFound(({ req }) => {
    throw new LilyError("route_not_found", `there is no ${req.method} at this path`, {
      next: `GET ${PREFIX}/openapi.json lists the routes.`,
    });
  });
  if (corsOrigins.length > 0)
    app.use(
      cors({
        origin: [...corsOrigins],
        allowMethods: ["GET", "POST"],
        allowHeaders: ["authorization", "content-type", "idempotency-key", "x-api-key"],
        exposeHeaders: ["retry-after"],
        maxAge: 600,
      }),
    );
  app.use(async (context, next) => {
    await next();
    context.header("cache-control", "no-store");
  });
  app.use(requireExactPath);
  const tooLarge = (): never => {
    throw new LilyError("request_too_large", `the body has more than ${limits.bodyBytes} bytes`, {
      next: "Send less in one request; nothing was stored.",
    });
  };
  app.use(
    `${PREFIX}/keys/*`,
    guard(options),
    bodyLimit({ maxSize: limits.bodyBytes, onError: tooLarge }),
    requireUtf8,
  );
  app.use(`${PREFIX}/keys/:key/*`, async ({ req, var: { caller }, set }, next) => {
    set("ref", { owner: caller.owner, sessionKey: parseSessionKey(req.param("key")) });
    await next();
  });
  const { openAPIRegistry: registry } = app;
  registry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  const apiKey = { type: "apiKey", in: "header", name: "x-api-key" } as const;
  registry.registerComponent("securitySchemes", "apiKey", apiKey);
  addTurns(app, options);
  addSessions(app, options);
  addExplanations(app, options);
  addOperations(app, options);
  return app;
}

/** Lets those pass who are known and do not ask too often. */
function guard({ authenticate, limits, isDraining }: HttpAppOptions) {
  const rate = createRequestRate(limits.requestsPerMinute);
  return async (context: Context<HttpEnv>, next: () => Promise<void>): Promise<void> => {
    if (isDraining()) throw draining();
    const caller = await authenticate(context);
    // Whoever has asked too often must still be able to stop what was begun.
    const seconds = context.req.path.endsWith("/stop") ? 0 : await rate(caller.id);
    if (seconds > 0) {
      context.header("retry-after", String(seconds));
      throw new LilyError("rate_limited", "too many requests in a minute", {
        next: `Wait ${seconds} s, then go on.`,
      });
    }
    context.set("caller", caller);
    await next();
  };
}

/** A byte that is no UTF-8 would be stored as a question mark. */
async function requireUtf8(context: Context, next: () => Promise<void>): Promise<void> {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(await context.req.arrayBuffer());
  } catch {
    // As for a body that is no JSON; the decoder's own text says nothing that helps.
    throw new HTTPException(400);
  }
  await next();
}
