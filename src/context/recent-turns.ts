/** Committed turns that this process has read already: a conversation that goes on reads only what is new in it. */
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { TurnReader } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";

/** Turns that are remembered over all sessions; about 1.5 kB each. */
const MAX_TURNS = 2_000;

/** The turns that were read last. They can be kept, because a committed turn does not change. */
export class RecentTurns {
  readonly #turns = new Map<string, TurnRecord>();

  /** Reads through the memory: the repository is asked only for what is not in it. */
  over(repository: SessionRepository): TurnReader {
    return {
      readTurn: (ref, turn) => repository.readTurn(ref, turn),
      readTurns: async (ref, { from, to }) => {
        const missing = this.#missing(ref.sessionId, from, to);
        const read = missing === undefined ? [] : await repository.readTurns(ref, missing);
        for (const record of read) this.#turns.set(keyOf(ref.sessionId, record.turn), record);
        const turns = numbers(from, to).flatMap((turn) => this.#use(keyOf(ref.sessionId, turn)));
        this.#forgetOldest();
        return turns;
      },
    };
  }

  /** The smallest range that holds all turns that are not remembered. */
  #missing(sessionId: string, from: number, to: number): { from: number; to: number } | undefined {
    const unknown = numbers(from, to).filter((turn) => !this.#turns.has(keyOf(sessionId, turn)));
    const [first] = unknown;
    return first === undefined ? undefined : { from: first, to: unknown.at(-1) ?? first };
  }

  /** The turn, which counts as used last from now on. */
  #use(key: string): TurnRecord[] {
    const record = this.#turns.get(key);
    if (record === undefined) return [];
    this.#turns.delete(key);
    this.#turns.set(key, record);
    return [record];
  }

  #forgetOldest(): void {
    for (const key of this.#turns.keys()) {
      if (this.#turns.size <= MAX_TURNS) return;
      this.#turns.delete(key);
    }
  }
}

const keyOf = (sessionId: string, turn: number): string => `${sessionId}/${turn}`;

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
