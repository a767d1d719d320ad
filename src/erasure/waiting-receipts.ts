/** Receipts on their way to the runs that tell of them, inside one process: a receipt that a caller sends is not believed. */
import type { Envelope } from "#src/kernel/envelope.ts";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { lockName } from "#src/turns/lock-name.ts";

/** The message that asked for an erasure. */
export interface ErasingMessage extends KeyRef {
  readonly deliveryId: string;
}

/** The receipts. */
export interface WaitingReceipts {
  /** Keeps the receipt of what a message asked for. */
  keep(message: ErasingMessage, receipt: Envelope): void;
  /** That receipt; `undefined` where the message has erased nothing. */
  of(message: ErasingMessage): Envelope | undefined;
}

/** A run begins at once or is asked for again: so many are on their way at most. */
const MOST = 100;

/** Makes the keeper; the newest stay. */
export function createWaitingReceipts(): WaitingReceipts {
  const receipts = new Map<string, Envelope>();
  return {
    keep(message, receipt) {
      keepNewest(receipts, [nameOf(message), receipt], MOST);
    },
    of: (message) => receipts.get(nameOf(message)),
  };
}

function nameOf(message: ErasingMessage): string {
  return `${lockName(message)}/${message.deliveryId}`;
}
