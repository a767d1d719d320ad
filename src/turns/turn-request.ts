/** A message on its way in, as its channel hands it over. */
import type { TurnEvent } from "./runner.ts";

/** A message on its way in. */
export interface TurnRequest {
  readonly owner: string;
  readonly sessionKey: string;
  /** Text, or content parts that are all text. */
  readonly content: unknown;
  /** The channel's id of the message; without it each call is a message of its own. */
  readonly deliveryId?: string;
  /** Stops the answer that is being written; what there is of it is kept. */
  readonly stop?: AbortSignal;
  readonly onEvent?: (event: TurnEvent) => void;
}
