/** Committed turns that this process has read already: a conversation that goes on reads only what is new in it. */
import type { Chain } from "#src/sessions/chain.ts";
import { erasedTurns } from "#src/sessions/redaction-list.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { TurnReader } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";

/** Turns that are remembered over all sessions; about 1.5 kB each. */
const MAX_TURNS = 2_000;

/** The turns that were read last. They can be kept, because a committed turn does not change but by being erased. */
export class RecentTurns {
  readonly #turns = new Map<string, TurnRecord>();

  /**
   * Reads through the memory: the repository is asked only for what is not in it.
   *
   * @param chain as it was read for this turn. What it lists as erased is forgotten, whichever process erased it, and not
   *   read again: also where the erasure did not finish.
   */
  over(
    repository: Pick<SessionRepository, "readStoredTurn" | "readTurns">,
    chain: Pick<Chain, "redactions">,
  ): TurnReader {
    this.#forgetErased(chain);
    return {
      readStoredTurn: (ref, turn) => repository.readStoredTurn(ref, turn),
      readTurns: async (ref, { from, to }) => {
        const erased = chain.redactions === undefined ? undefined : erasedTurns(chain, ref.sessionId);
        const wanted = numbers(from, to).filter((turn) => erased?.has(turn) !== true);
        // Taken before anything is waited for: others read too, and what was used longest ago is forgotten.
        const turns = new Map(wanted.flatMap((turn) => this.#use(ref.sessionId, turn)));
        const unknown = wanted.filter((turn) => !turns.has(turn));
        const [first] = unknown;
        if (first !== undefined) {
          const read = await repository.readTurns(ref, { from: first, to: unknown.at(-1) ?? first });
          for (const record of read) {
            if (erased?.has(record.turn) === true) continue;
            turns.set(record.turn, record);
            this.#turns.set(keyOf(ref.sessionId, record.turn), record);
          }
          this.#forgetOldest();
        }
        return wanted.flatMap((turn) => turns.get(turn) ?? []);
      },
    };
  }

  /** A turn that was committed just now need not be read. */
  remember(record: TurnRecord): void {
    this.#turns.set(keyOf(record.sessionId, record.turn), record);
    this.#forgetOldest();
  }

  /** Most chains list nothing; then it costs nothing. */
  #forgetErased({ redactions }: Pick<Chain, "redactions">): void {
    for (const { sessionId, turns = [] } of redactions ?? [])
      for (const turn of turns) this.#turns.delete(keyOf(sessionId, turn));
  }

  /** The turn, if it is remembered; it counts as used last from now on. */
  #use(sessionId: string, turn: number): [number, TurnRecord][] {
    const key = keyOf(sessionId, turn);
    const record = this.#turns.get(key);
    if (record === undefined) return [];
    this.#turns.delete(key);
    this.#turns.set(key, record);
    return [[turn, record]];
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
