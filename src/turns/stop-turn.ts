/** What a person is told who stops the answer that is being written: by `/stop`, by the route, on any channel. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { requestStop, type StopDeps, type StopOutcome } from "./request-stop.ts";
import type { TurnDeps } from "./turn-deps.ts";
import { refusal, type TurnReply } from "./turn-reply.ts";

/** Stops the turn that runs on the key and does not wait for its end. `false`: nothing was running. */
export async function stopTurn(
  deps: StopDeps & Pick<TurnDeps, "ids">,
  { owner, sessionKey }: KeyRef,
): Promise<boolean> {
  return (await requestStop(deps, { owner, sessionKey }, deps.ids.uuid())).kind === "asked";
}

/** The reply to `/stop`. It is no turn, and answers at once. */
export async function stopReply(deps: TurnDeps, ref: KeyRef, deliveryId: string): Promise<TurnReply> {
  const outcome = await requestStop(deps, ref, deliveryId);
  const chain = await deps.repository.readChain(ref);
  const where = { sessionId: chain?.latest ?? "", deliveryId };
  return { ...refusal(envelopeOfStop(outcome), where), outcome: "command" };
}

function envelopeOfStop(outcome: StopOutcome): Envelope {
  if (outcome.kind !== "asked")
    return done("nothing_running", "Nothing is being answered right now.", { data: { stopped: false } });
  if (outcome.where === "here")
    return done("answer_stopped", "Stopped. What there is of the answer is kept.", {
      data: { stopped: true },
    });
  return done(
    "answer_stopped",
    "The answer is being written by another program, which stops within a second. What there is of it is kept.",
    { data: { stopped: true, elsewhere: true } },
  );
}
