/** `GET /keys/{key}/sessions/{sessionId}/history`: the committed turns of one session, page by page. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { isRedacted, wholeTurns } from "#src/sessions/redaction.ts";
import { turnRecordSchema } from "#src/sessions/turn-record.ts";
import { readQuery } from "../read-request.ts";
import { pageFields, pageQuerySchema, planPage } from "./page.ts";
import { addKeyRoute, json, type RouteServices } from "./route.ts";
import { requireSession } from "./session-view.ts";

/** A turn without what only verification needs. */
const turnSchema = z
  .object(turnRecordSchema.shape)
  .omit({ v: true, textHash: true, salt: true, leaf: true, head: true })
  .meta({ id: "Turn" });

const historySchema = z.strictObject({
  sessionKey: z.string(),
  sessionId: z.string(),
  turns: z.array(turnSchema),
  /** Turns of the page that were erased, and when. */
  erased: z.array(z.strictObject({ turn: z.int(), erasedAt: z.string() })),
  ...pageFields,
});

/** Adds the route. */
export function addHistory(app: OpenAPIHono, services: RouteServices): void {
  addKeyRoute(app, services, {
    method: "get",
    path: "/keys/{key}/sessions/{sessionId}/history",
    summary: "Read the committed turns of a session, oldest first",
    query: pageQuerySchema,
    answer: historySchema,
    async handle({ conversations: { repository }, request, param }, ref) {
      const query = readQuery(request, pageQuerySchema);
      const { entry } = await requireSession(repository, ref, param("sessionId"));
      const { sessionId, sealed } = entry;
      const transcript = { ...ref, sessionId };
      const total = sealed?.turns ?? (await repository.lastStoredTurn(transcript));
      const { from, to, next } = planPage(query, total);
      const stored = from > to ? [] : await repository.readStoredTurns(transcript, { from, to });
      const erased = stored.filter(isRedacted).map(({ turn, redacted: { at } }) => ({ turn, erasedAt: at }));
      const page = { turns: wholeTurns(stored), erased, total, next };
      return json(historySchema.parse({ sessionKey: ref.sessionKey, sessionId, ...page }));
    },
  });
}
