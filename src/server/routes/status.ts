/** `GET /keys/{key}/status` and `GET /keys/{key}/verify`: what a conversation rests on, and whether it is as committed. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { refused } from "#src/kernel/envelope.ts";
import { verifyOwner, type VerifyReport } from "#src/sessions/verify.ts";
import { problemOfEnvelope, problemResponse, replySchema } from "../problem.ts";
import { addKeyRoute, json, type RouteServices } from "./route.ts";
import { requireChain } from "./session-view.ts";
import { answerReply } from "./turn-answer.ts";

const verifiedSchema = z.strictObject({
  ok: z.literal(true),
  sessions: z.int(),
  turns: z.int(),
  /** Turns and titles that were erased on request. */
  erased: z.strictObject({ turns: z.int(), titles: z.int() }),
});

/** Adds the routes. */
export function addStatus(app: OpenAPIHono, services: RouteServices): void {
  addKeyRoute(app, services, {
    method: "get",
    path: "/keys/{key}/status",
    summary: "Show the latest session, its rules and the latest decision, as /status does",
    answer: replySchema,
    handle: async ({ conversations }, ref) =>
      answerReply(await conversations.send({ ...ref, content: "/status" }), services),
  });
  addKeyRoute(app, services, {
    method: "get",
    path: "/keys/{key}/verify",
    summary: "Check that every turn and seal of a key is as it was committed",
    description: "What is not is answered with code `verify_failed` and the findings in `data`.",
    answer: verifiedSchema,
    async handle({ conversations: { repository } }, ref) {
      await requireChain(repository, ref);
      return answerReport(await verifyOwner(repository, ref.owner, ref.sessionKey));
    },
  });
}

function answerReport(report: VerifyReport): Response {
  const { erased, ok, sessions, turns, problems } = report;
  if (ok) return json(verifiedSchema.parse({ ok, sessions, turns, erased }));
  const envelope = refused(
    "verify_failed",
    `${problems.length} found in ${sessions} sessions with ${turns} turns`,
    {
      next: "Restore the storage from a backup if it should be as it was (lily restore); lily doctor says what still works.",
      data: { ...report },
    },
  );
  return problemResponse(problemOfEnvelope(envelope));
}
