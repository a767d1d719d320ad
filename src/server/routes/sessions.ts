/** `GET /keys/{key}/sessions` and `…/{sessionId}`: the sessions of a key. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { lineageOf } from "#src/sessions/chain.ts";
import { readQuery } from "../read-request.ts";
import { pageFields, pageQuerySchema, planPage } from "./page.ts";
import { addKeyRoute, json, type RouteServices } from "./route.ts";
import { requireChain, requireSession, sessionView, sessionViewSchema } from "./session-view.ts";

const sessionsSchema = z.strictObject({
  sessionKey: z.string(),
  latest: z.string(),
  sessions: z.array(sessionViewSchema),
  ...pageFields,
});

const sessionSchema = z.strictObject({
  sessionKey: z.string(),
  session: sessionViewSchema,
  /** Committed turns. */
  turns: z.int(),
  /** The sessions whose turns it reads as its past, oldest first, itself last. */
  lineage: z.array(z.string()),
});

/** Adds the routes. */
export function addSessions(app: OpenAPIHono, services: RouteServices): void {
  addKeyRoute(app, services, {
    method: "get",
    path: "/keys/{key}/sessions",
    summary: "List the sessions of a key, oldest first",
    query: pageQuerySchema,
    answer: sessionsSchema,
    async handle({ conversations: { repository }, request }, ref) {
      const query = readQuery(request, pageQuerySchema);
      const chain = await requireChain(repository, ref);
      const { from, to, next } = planPage(query, chain.sessions.length);
      const shown = chain.sessions.slice(from - 1, Math.max(to, 0));
      return json(
        sessionsSchema.parse({
          sessionKey: ref.sessionKey,
          latest: chain.latest,
          sessions: shown.map((entry) => sessionView(chain, entry)),
          total: chain.sessions.length,
          next,
        }),
      );
    },
  });
  addKeyRoute(app, services, {
    method: "get",
    path: "/keys/{key}/sessions/{sessionId}",
    summary: "Show one session",
    answer: sessionSchema,
    async handle({ conversations: { repository }, param }, ref) {
      const { chain, entry } = await requireSession(repository, ref, param("sessionId"));
      const { sessionId, sealed } = entry;
      return json(
        sessionSchema.parse({
          sessionKey: ref.sessionKey,
          session: sessionView(chain, entry),
          turns: sealed?.turns ?? (await repository.lastStoredTurn({ ...ref, sessionId })),
          lineage: lineageOf(chain, sessionId),
        }),
      );
    },
  });
}
