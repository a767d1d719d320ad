/** The routes that explain: the trace of a turn, also of one that failed, and a session under the names of the MRP document. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import type { CommandContext } from "#src/commands/command.ts";
import { namesIn, traceOf, type TraceOptions } from "#src/explain/derive-trace.ts";
import { explainabilityLog, sessionDocumentSchema, sessionSetup } from "#src/explain/session-document.ts";
import { traceSchema } from "#src/explain/trace.ts";
import { findWhichTurn } from "#src/explain/which-turn.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { wholeUnit } from "#src/sessions/knowledge-units.ts";
import { decideTemporal } from "#src/sessions/decide-rollover.ts";
import { ownRoute, type HttpEnv, type RouteServices } from "./route.ts";
import { requireSession, sessionParams } from "./sessions.ts";

const showTrace = ownRoute("get", "/{key}/sessions/{sessionId}/turns/{turn}/trace", {
  operationId: "showTrace",
  summary: "Show what happened in a turn, as /explain does: steps, times, tries, tokens, cost and candidates",
  request: {
    params: sessionParams.extend({
      turn: z
        .string()
        .meta({ description: "A number, `last`, or `failed-1` for the newest one that failed" }),
    }),
  },
  answer: traceSchema.meta({ id: "Trace" }),
});

const showDocument = ownRoute("get", "/{key}/sessions/{sessionId}/state", {
  operationId: "showSessionState",
  summary:
    "Show a session's state, preferences, newest messages, units and traces under the names of the MRP document",
  request: { params: sessionParams },
  answer: sessionDocumentSchema.meta({ id: "SessionState" }),
});

/** Newest turns that a session's state has. */
const NEWEST = 20;

export function addExplanations(app: OpenAPIHono<HttpEnv>, { sessions }: RouteServices): void {
  const contextOf = async (ref: KeyRef, sessionId: string) => {
    const { entry } = await requireSession(sessions.repository, ref, sessionId);
    return sessions.contextOf(ref, entry.sessionId);
  };
  app.openapi(showTrace, async (context) => {
    const { sessionId, turn } = context.req.valid("param");
    const given = await contextOf(context.var.ref, sessionId);
    const which = await findWhichTurn(given.repository, given.session, turn);
    if (which?.kind === "turn" || which?.kind === "failure")
      return context.json(traceOf(which, optionsOf(given)), 200);
    throw new LilyError("turn_not_found", whyNone(which), {
      next: "GET …/history lists the turns of a session; failed-1 is the newest that failed.",
    });
  });
  app.openapi(showDocument, async (context) => {
    const given = await contextOf(context.var.ref, context.req.valid("param").sessionId);
    return context.json(await documentOf(given), 200);
  });
}

function whyNone(which: Awaited<ReturnType<typeof findWhichTurn>>): string {
  if (which?.kind === "missing") return which.what;
  if (which?.kind === "erased") return "what was said in that turn was erased, and why with it";
  return which?.kind === "session" ? "nothing was said in this session yet" : "that is no turn";
}

function optionsOf({ chain, policy, priceOf, session }: CommandContext): TraceOptions {
  return { priceOf, timeZone: policy.timeZone, nameOf: namesIn(chain, session.sessionId) };
}

async function documentOf(context: CommandContext): Promise<z.infer<typeof sessionDocumentSchema>> {
  const { entry, nowMs, policy, repository, session, solver } = context;
  const isDue = decideTemporal(session, policy, nowMs).action === "rotate";
  const turns = await repository.readTurns(session, {
    from: Math.max(1, session.turns - NEWEST + 1),
    to: session.turns,
  });
  const failures = await repository.readFailures(session);
  return {
    ...sessionSetup(session, { entry, isDue, solver, plugins: context.plugins.used }),
    messageLog: turns.flatMap(({ messages }) => messages.map(({ role, content }) => ({ role, content }))),
    sessionContextUnits: (session.units ?? []).map((unit) => ({ ...wholeUnit(unit, session.sessionId) })),
    explainabilityLog: explainabilityLog({ turns, failures }, optionsOf(context)),
  };
}
