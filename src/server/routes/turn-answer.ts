/** Sends a message and answers with its reply: as JSON, or as a stream of events while the turn runs. */
import { parseAccept } from "hono/utils/accept";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { eventStream } from "../event-stream.ts";
import { problemOf, problemOfReply, problemResponse } from "../problem.ts";
import { json, type Exchange, type RouteServices } from "./route.ts";

const EVENTS = "text/event-stream";

/**
 * Takes a message to the answer of its request. The turn goes on when the client goes away: it may have been read, and
 * the same delivery id gives the reply.
 *
 * @throws {LilyError} `rate_limited` when the owner has too many turns already
 */
export async function answerTurn(
  services: RouteServices,
  { request, conversations, owner }: Exchange,
  turn: TurnRequest,
): Promise<Response> {
  const { report, turns, events } = services;
  const running = turns.begin(owner);
  const send = (onEvent?: TurnRequest["onEvent"]): Promise<TurnReply> =>
    conversations
      .send({ ...turn, stop: running.stop, ...(onEvent === undefined ? {} : { onEvent }) })
      .finally(() => running.end());
  if (!wantsEvents(request)) return answerReply(await send(), services);
  return eventStream(async (emit) => {
    try {
      const reply = await send(({ type, ...data }) => emit(type, data));
      if (reply.envelope.ok) emit("reply", reply);
      else emit("error", problemOfReply(reply, report));
    } catch (error) {
      emit("error", problemOf(error, report));
    }
  }, events);
}

/** The answer with a reply: the reply itself, or the problem that it tells of. */
export function answerReply(reply: TurnReply, { report }: Pick<RouteServices, "report">): Response {
  return reply.envelope.ok ? json(reply) : problemResponse(problemOfReply(reply, report));
}

/** Whether events are asked for by name, and not less than JSON. */
function wantsEvents(request: Request): boolean {
  const accepted = parseAccept(request.headers.get("accept") ?? "");
  const weightOf = (type: string): number =>
    accepted.find((entry) => entry.type.toLowerCase() === type)?.q ?? 0;
  return weightOf(EVENTS) > 0 && weightOf(EVENTS) >= weightOf("application/json");
}
