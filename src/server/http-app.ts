/** The HTTP routes by session key: what is asked of every request before them, and how every refusal is answered. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { LilyError } from "#src/kernel/errors.ts";
import { createRequestRate, createRunningTurns, type RunningTurns } from "./limits.ts";
import { answerProblem, refuseInvalid, type ReportProblem } from "./problem.ts";
import { requireExactPath } from "./request-path.ts";
import { addOperations, draining } from "./routes/operations.ts";
import { addExplanations } from "./routes/explanations.ts";
import { PREFIX, type Caller, type HttpEnv, type RouteServices } from "./routes/route.ts";
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

export interface HttpAppOptions {
  readonly sessions: RouteServices["sessions"];
  /** Who asks. @throws {LilyError} `unauthenticated`, `forbidden` */
  readonly authenticate: (context: Context) => Promise<Caller>;
  readonly limits: HttpLimits;
  /** Origins of web pages that may read the answers. */
  readonly corsOrigins?: readonly string[];
  /** New requests are turned away. */
  readonly isDraining?: () => boolean;
  /** Told of every turn; by default a count of the app's own. */
  readonly turns?: RunningTurns;
  /** Told what is wrong with the server, which callers are not. */
  readonly report?: ReportProblem;
}

/** Time between signs of life in a stream of events. */
const HEARTBEAT_MS = 15_000;

/** Makes the app. Its paths begin with `/lily/v1`. */
export function createHttpApp(options: HttpAppOptions): OpenAPIHono<HttpEnv> {
  const { limits, report = () => undefined, isDraining = () => false, corsOrigins = [] } = options;
  const services: RouteServices = {
    sessions: options.sessions,
    turns: options.turns ?? createRunningTurns(limits.turnsAtOnce),
    report,
    isDraining,
    heartbeatMs: HEARTBEAT_MS,
  };
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInvalid });
  app.onError((error, context) => answerProblem(context, error, report));
  app.notFound((context) => answerProblem(context, notFound(context), report));
  if (corsOrigins.length > 0) app.use(corsFor(corsOrigins));
  app.use(async (context, next) => {
    await next();
    context.header("cache-control", "no-store");
  });
  app.use(requireExactPath);
  app.use(`${PREFIX}/keys/*`, guard(options, isDraining));
  app.use(`${PREFIX}/keys/*`, bodyLimit({ maxSize: limits.bodyBytes, onError: () => tooLarge(limits) }));
  app.use(`${PREFIX}/keys/*`, requireUtf8);
  const { openAPIRegistry: registry } = app;
  registry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  registry.registerComponent("securitySchemes", "apiKey", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
  });
  addTurns(app, services);
  addSessions(app, services);
  addExplanations(app, services);
  addOperations(app, services);
  return app;
}

/** Lets those pass who are known and do not ask too often. */
function guard({ authenticate, limits }: HttpAppOptions, isDraining: () => boolean) {
  const rate = createRequestRate(limits.requestsPerMinute);
  return async (context: Context<HttpEnv>, next: () => Promise<void>): Promise<void> => {
    if (isDraining()) throw draining();
    const caller = await authenticate(context);
    // Whoever has asked too often must still be able to stop what was begun.
    const seconds = context.req.path.endsWith("/stop") ? 0 : await rate.take(caller.id);
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

function corsFor(origins: readonly string[]) {
  return cors({
    origin: [...origins],
    allowMethods: ["GET", "POST"],
    allowHeaders: ["authorization", "content-type", "idempotency-key", "x-api-key"],
    exposeHeaders: ["retry-after"],
    maxAge: 600,
  });
}

/** A byte that is no UTF-8 would be stored as a question mark. @throws {LilyError} `request_invalid` */
async function requireUtf8(context: Context, next: () => Promise<void>): Promise<void> {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(await context.req.arrayBuffer());
  } catch {
    // The decoder's own text says nothing that helps.
    throw new LilyError("request_invalid", "the body is not JSON in UTF-8", {
      next: "Send one JSON object.",
    });
  }
  await next();
}

function tooLarge({ bodyBytes }: HttpLimits): never {
  throw new LilyError("request_too_large", `the body has more than ${bodyBytes} bytes`, {
    next: "Send less in one request; nothing was stored.",
  });
}

function notFound({ req }: Context): LilyError {
  return new LilyError("route_not_found", `there is no ${req.method} at this path`, {
    next: `GET ${PREFIX}/openapi.json lists the routes.`,
  });
}
