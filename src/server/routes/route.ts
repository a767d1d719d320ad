/** What all routes share: the caller, the parameters of the path, and how a route is described in the OpenAPI document. */
import { createRoute, z, type RouteConfig } from "@hono/zod-openapi";
import type { LocalSessions } from "#graphs/session/local.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { Identity } from "../auth/authenticator.ts";
import type { RunningTurns } from "../limits.ts";
import { problemSchema, type ReportProblem } from "../problem.ts";

/** Before every path. */
export const PREFIX = "/lily/v1";

/** What the guard of the routes leaves for their handlers. */
export interface HttpEnv {
  Variables: {
    caller: Identity;
    /** The conversation that the path names, on routes of a key. */
    ref: KeyRef;
  };
}

/** What the routes work with. */
export interface RouteServices {
  readonly sessions: Pick<
    LocalSessions,
    "send" | "stop" | "approve" | "openApproval" | "repository" | "contextOf"
  >;
  /** Told of every turn. */
  readonly turns: RunningTurns;
  /** Told what is wrong with the server, which callers are not. */
  readonly report: ReportProblem;
  /** New requests are turned away. */
  readonly isDraining: () => boolean;
}

/** Parameters of a route of a key. */
export const keyParams = z.object({ key: z.string() });

/** What a route answers: JSON of a schema, or a problem. */
export function answers<T extends z.ZodType>(schema: T) {
  return {
    200: { description: "Done", content: { "application/json": { schema } } },
    default: {
      description: "Not done; `code` says why",
      content: { "application/problem+json": { schema: problemSchema } },
    },
  };
}

/** A route for one's own, below `/keys`; `answer` is the schema of what it gives. */
export function ownRoute<
  Method extends "get" | "post",
  Path extends string,
  Request extends NonNullable<RouteConfig["request"]>,
  Answer extends z.ZodType,
>(
  method: Method,
  path: Path,
  {
    answer,
    ...route
  }: {
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
    readonly request: Request;
    readonly answer: Answer;
  },
) {
  return createRoute({
    ...route,
    method,
    path: `${PREFIX}/keys${path}` as const,
    security: [{ bearer: [] }, { apiKey: [] }],
    responses: answers(answer),
  });
}

/** A JSON body of a schema. */
export function jsonBody<T extends z.ZodType>(schema: T, { required }: { readonly required: boolean }) {
  return { required, content: { "application/json": { schema } } };
}
