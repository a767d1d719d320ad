/** `GET /keys`: the caller's session keys. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import type { Chain } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { readQuery } from "../read-request.ts";
import { pageFields, pageQuerySchema, planPage } from "./page.ts";
import { addRoute, json, type RouteServices } from "./route.ts";

const keySchema = z
  .strictObject({
    sessionKey: z.string(),
    /** Session that takes the next message. */
    sessionId: z.string(),
    sessions: z.int(),
    /** Committed turns of all its sessions. */
    turns: z.int(),
    /** When the latest turn was committed, or the latest session opened. */
    lastActivityAt: z.string(),
  })
  .meta({ id: "Key" });

const keysSchema = z.strictObject({
  keys: z.array(keySchema),
  /** Keys that are stored but cannot be read; `lily verify` names what is wrong. */
  damaged: z.int(),
  ...pageFields,
});

/** Adds the route. */
export function addKeys(app: OpenAPIHono, services: RouteServices): void {
  addRoute(app, services, {
    method: "get",
    path: "/keys",
    summary: "List your session keys, in the order in which they were first used",
    query: pageQuerySchema,
    answer: keysSchema,
    async handle({ conversations: { repository }, owner, request }) {
      const query = readQuery(request, pageQuerySchema);
      let damaged = 0;
      const chains = await repository.listChains(owner, () => void (damaged += 1));
      const { from, to, next } = planPage(query, chains.length);
      const keys = await Promise.all(
        chains.slice(from - 1, Math.max(to, 0)).map((chain) => viewOf(repository, chain)),
      );
      return json(keysSchema.parse({ keys, damaged, total: chains.length, next }));
    },
  });
}

async function viewOf(repository: SessionRepository, chain: Chain): Promise<z.infer<typeof keySchema>> {
  const { owner, sessionKey, latest: sessionId, sessions } = chain;
  const ref = { owner, sessionKey, sessionId };
  const open = await repository.lastStoredTurn(ref);
  const turns = sessions.reduce((sum, entry) => sum + (entry.sealed?.turns ?? 0), open);
  const last = open === 0 ? undefined : await repository.readStoredTurn(ref, open);
  const lastActivityAt = last?.at ?? sessions.at(-1)?.opened.at ?? "";
  return { sessionKey, sessionId, sessions: sessions.length, turns, lastActivityAt };
}
