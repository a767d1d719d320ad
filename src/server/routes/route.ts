/** How a route is added: described in the OpenAPI document and guarded in one order, whatever app it is mounted in. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { parseSessionKey } from "#src/sessions/session-key.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { Conversations, OpenConversations } from "../conversations.ts";
import type { EventStreamOptions } from "../event-stream.ts";
import { problemOf, problemResponse, problemSchema, type ReportProblem } from "../problem.ts";
import { pathPart, requirePlainTarget } from "../request-path.ts";
import type { RequestRate } from "../request-rate.ts";
import type { RunningTurns } from "../running-turns.ts";

/** Before every path, so that the routes can be mounted beside those of a LangGraph server. */
export const PREFIX = "/lily/v1";

/** What the routes work with. */
export interface RouteServices {
  readonly open: OpenConversations;
  /** Who asks. @throws {LilyError} `unauthenticated`, `forbidden` */
  readonly authenticate: (request: Request) => Promise<{ readonly owner: string }>;
  readonly isDraining: () => boolean;
  readonly rate: RequestRate;
  readonly turns: RunningTurns;
  readonly bodyBytes: number;
  readonly events: EventStreamOptions;
  readonly report: ReportProblem;
}

/** What a route is, as the document describes it. */
export interface RouteDescription {
  readonly method: "get" | "post";
  /** Behind the prefix, with parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: { readonly schema: z.ZodType; readonly required: boolean };
  readonly answer: z.ZodType;
  /** The answer can also be had as a stream of events. */
  readonly streams?: boolean;
}

/** One request of somebody who is known and may ask now. */
export interface Exchange {
  readonly request: Request;
  readonly owner: string;
  readonly conversations: Conversations;
  /** A decoded parameter of the path. @throws {LilyError} `request_invalid` */
  readonly param: (name: string) => string;
}

/** Adds a route that needs a login. What the handler throws is answered as a problem. */
export function addRoute(
  app: OpenAPIHono,
  services: RouteServices,
  route: RouteDescription & { readonly handle: (exchange: Exchange) => Promise<Response> },
): void {
  describeRoute(app, route, { isOpen: false });
  app.on(route.method.toUpperCase(), honoPath(route.path), (context) =>
    answering(context, services, async (request) => {
      if (services.isDraining()) throw draining();
      const { owner } = await services.authenticate(request);
      const waitSeconds = await services.rate.take(owner);
      if (waitSeconds > 0) return tooFast(services, waitSeconds);
      const conversations = services.open({ owner, request });
      return route.handle({ request, owner, conversations, param: paramReader(route.path, request) });
    }),
  );
}

/** Adds a route of a session key. */
export function addKeyRoute(
  app: OpenAPIHono,
  services: RouteServices,
  route: RouteDescription & { readonly handle: (exchange: Exchange, ref: KeyRef) => Promise<Response> },
): void {
  addRoute(app, services, {
    ...route,
    handle: (exchange) =>
      route.handle(exchange, { owner: exchange.owner, sessionKey: parseSessionKey(exchange.param("key")) }),
  });
}

/** Adds a route for everybody, which must tell nothing of anybody. */
export function addOpenRoute(
  app: OpenAPIHono,
  services: RouteServices,
  route: RouteDescription & { readonly handle: (request: Request) => Promise<Response> },
): void {
  describeRoute(app, route, { isOpen: true });
  app.on(route.method.toUpperCase(), honoPath(route.path), (context) =>
    answering(context, services, route.handle),
  );
}

/** A JSON answer. */
export function json(value: unknown): Response {
  return new Response(JSON.stringify(value), {
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

/** Refuses whatever no route is for. */
export function answerUnknown(context: Context, services: Pick<RouteServices, "report">): Promise<Response> {
  return answering(context, services, (request) => {
    throw new LilyError("route_not_found", `there is no ${request.method} at this path`, {
      next: `GET ${PREFIX}/openapi.json lists the routes.`,
    });
  });
}

/** Server that turns away new requests. */
export function draining(): LilyError {
  return new LilyError("draining", "the server is ending and takes no new requests", {
    next: "Send it again in a moment, with the same delivery id.",
  });
}

const connectionSchema = z.object({ incoming: z.object({ url: z.string() }) });

async function answering(
  context: Context,
  { report }: Pick<RouteServices, "report">,
  handle: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  try {
    // The target as it came over a socket; a request within the process has only its URL.
    const connection = connectionSchema.safeParse(context.env);
    if (connection.success) requirePlainTarget(connection.data.incoming.url);
    return await handle(context.req.raw);
  } catch (error) {
    return problemResponse(problemOf(error, report));
  }
}

function tooFast({ report }: RouteServices, seconds: number): Response {
  const error = new LilyError("rate_limited", "too many requests in a minute", {
    next: `Wait ${seconds} s, then go on.`,
  });
  return problemResponse(problemOf(error, report), { "retry-after": String(seconds) });
}

function paramReader(path: string, request: Request): (name: string) => string {
  const parts = `${PREFIX}${path}`.split("/").slice(1);
  return (name) => pathPart(request.url, parts.indexOf(`{${name}}`));
}

function honoPath(path: string): string {
  return `${PREFIX}${path.replaceAll(/\{(\w+)\}/gu, ":$1")}`;
}

function describeRoute(
  app: OpenAPIHono,
  route: RouteDescription,
  { isOpen }: { readonly isOpen: boolean },
): void {
  const { method, path, summary, description, query, headers, body, answer, streams } = route;
  const names = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = ""]) => name);
  const params = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  app.openAPIRegistry.registerPath({
    method,
    path: `${PREFIX}${path}`,
    summary,
    ...(description === undefined ? {} : { description }),
    security: isOpen ? [] : [{ bearer: [] }, { apiKey: [] }],
    request: {
      ...(names.length === 0 ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined
        ? {}
        : { body: { required: body.required, content: { "application/json": { schema: body.schema } } } }),
    },
    responses: {
      200: {
        description: "Done",
        content: {
          "application/json": { schema: answer },
          ...(streams === true ? { "text/event-stream": { schema: z.string() } } : {}),
        },
      },
      default: {
        description: "Not done; `code` says why",
        content: { "application/problem+json": { schema: problemSchema } },
      },
    },
  });
}
