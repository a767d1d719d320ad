/** Erasing everywhere as commands reach it: they look at what would go, and tell what became of it; the run does it. */
import type { Envelope } from "#src/kernel/envelope.ts";
import type { MemoryRecord } from "#memory/record.ts";

/** A turn that would go, as a whole. */
export interface DoomedTurn {
  readonly sessionKey: string;
  /** Place of its session in the chain; `null` where no chain has it. */
  readonly session: number | null;
  readonly turn: number;
  /** ISO instant. */
  readonly at: string;
  readonly kind: "chat" | "command";
  /** The beginning of what says it. */
  readonly said: string;
}

/** What an erasure would take along. */
export interface ErasurePreview {
  readonly turns: readonly DoomedTurn[];
  readonly records: readonly MemoryRecord[];
  /** What has a part of it and would stay: how much it is, in words, and the turns of it. */
  readonly inPart: { readonly what: string; readonly turns: readonly DoomedTurn[] };
  /** How many would go from each place. */
  readonly counts: readonly { readonly place: string; readonly count: number }[];
}

/** What is to be erased. */
export interface WantedErasure {
  /** The fact, or words that stand for one. */
  readonly text: string;
  /** The words with which it is asked for. */
  readonly asked: string;
}

export interface CommandErasing {
  /** Looks at what would go. Absent where the erasure was made already. */
  readonly preview?: (wanted: WantedErasure) => Promise<ErasurePreview>;
  /** The receipt of the erasure that this message asked for. */
  readonly receipt?: Envelope | undefined;
}
