/** The HTTP routes by session key, as an app of its own or mounted beside other routes. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { OpenConversations } from "./conversations.ts";
import { everyByTimer, type Every } from "./event-stream.ts";
import type { ReportProblem } from "./problem.ts";
import { createRequestRate } from "./request-rate.ts";
import { createRunningTurns, type RunningTurns } from "./running-turns.ts";
import { addCommands } from "./routes/commands.ts";
import { addHistory } from "./routes/history.ts";
import { addKeys } from "./routes/keys.ts";
import { addMessages } from "./routes/messages.ts";
import { addOperations } from "./routes/operations.ts";
import { addSessions } from "./routes/sessions.ts";
import { addStatus } from "./routes/status.ts";
import { addStop } from "./routes/stop.ts";
import { answerUnknown, PREFIX, type RouteServices } from "./routes/route.ts";

/** What keeps one caller from taking the server from the others. */
export interface HttpLimits {
  /** Longest body in bytes. */
  readonly bodyBytes: number;
  /** Requests of one owner in a minute. */
  readonly ratePerMinute: number;
  /** Turns of one owner that run or wait at once. */
  readonly turnsPerOwner: number;
  /** Time between signs of life in a stream of events. */
  readonly heartbeatMs: number;
}

/** A message of the default length has room many times over, and so has a picture of the largest size as base64. */
export const DEFAULT_LIMITS: HttpLimits = {
  bodyBytes: 8_000_000,
  ratePerMinute: 300,
  turnsPerOwner: 32,
  heartbeatMs: 15_000,
};

/** Options of {@link createHttpApp}. */
export interface HttpAppOptions {
  readonly open: OpenConversations;
  /** Who asks. @throws {LilyError} `unauthenticated`, `forbidden` */
  readonly authenticate: (request: Request) => Promise<{ readonly owner: string }>;
  readonly limits?: Partial<HttpLimits>;
  /** New requests are turned away. */
  readonly isDraining?: () => boolean;
  /** Told of every turn; by default a count of the app's own. */
  readonly turns?: RunningTurns;
  /** Told what is wrong with the server, which callers are not. */
  readonly report?: ReportProblem;
  readonly every?: Every;
}

/** Makes the app. Its paths begin with `/lily/v1`; below that it answers everything, also what is no route. */
export function createHttpApp(options: HttpAppOptions): OpenAPIHono {
  const services = servicesOf(options);
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  app.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
  });
  for (const add of [
    addMessages,
    addStop,
    addCommands,
    addKeys,
    addSessions,
    addHistory,
    addStatus,
    addOperations,
  ])
    add(app, services);
  app.all(`${PREFIX}/*`, (context) => answerUnknown(context, services));
  app.notFound((context) => answerUnknown(context, services));
  return app;
}

function servicesOf(options: HttpAppOptions): RouteServices {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { open, authenticate } = options;
  return {
    open,
    authenticate,
    isDraining: options.isDraining ?? (() => false),
    rate: createRequestRate(limits.ratePerMinute),
    turns: options.turns ?? createRunningTurns(limits.turnsPerOwner),
    bodyBytes: limits.bodyBytes,
    events: { every: options.every ?? everyByTimer, heartbeatMs: limits.heartbeatMs },
    report: options.report ?? (() => undefined),
  };
}
