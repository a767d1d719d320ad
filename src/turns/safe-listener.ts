/** Whoever watches a turn cannot fail it: what a listener throws goes nowhere. */
import type { TurnEvent } from "./runner.ts";
import type { TurnRequest } from "./turn-request.ts";

/** The request, whose listener may throw or reject. */
export function withSafeListener(request: TurnRequest): TurnRequest {
  const { onEvent } = request;
  if (onEvent === undefined) return request;
  return { ...request, onEvent: (event) => tell(onEvent, event) };
}

function tell(onEvent: (event: TurnEvent) => unknown, event: TurnEvent): void {
  try {
    const told = onEvent(event);
    // One that is asynchronous all the same would end the process.
    if (told instanceof Promise) told.catch(() => undefined);
  } catch {
    // The answer is written and stored whether or not anybody can be shown it; the reply holds it in full.
  }
}
