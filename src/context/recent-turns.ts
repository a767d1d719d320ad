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
  /** By session, the one that was used longest ago first. */
  readonly #sessions = new Map<string, Map<number, TurnRecord>>();
  #count = 0;

  /**
   * Reads through the memory: the repository is asked only for what is not in it.
   *
   * @param chain as it was read for this turn. What it lists as erased is forgotten, whichever process erased it, and not
   *   read again: also where the erasure did not finish.
   */
  over(
    repository: Pick<SessionRepository, "lastStoredTurn" | "readTurns">,
    chain: Pick<Chain, "redactions">,
  ): TurnReader {
    this.#forgetErased(chain);
    return {
      lastStoredTurn: (ref) => repository.lastStoredTurn(ref),
      readTurns: async (ref, { from, to }) => {
        const erased = chain.redactions === undefined ? undefined : erasedTurns(chain, ref.sessionId);
        // Taken before anything is waited for: others read too, and what was used longest ago is forgotten.
        const known = this.#use(ref.sessionId);
        const turns: TurnRecord[] = [];
        const unknown: number[] = [];
        for (let turn = from; turn <= to; turn += 1) {
          if (erased?.has(turn) === true) continue;
          const record = known?.get(turn);
          if (record === undefined) unknown.push(turn);
          else turns.push(record);
        }
        const [first] = unknown;
        if (first === undefined) return turns;
        const missing = new Set(unknown);
        const read = await repository.readTurns(ref, { from: first, to: unknown.at(-1) ?? first });
        for (const record of read) {
          if (!missing.has(record.turn)) continue;
          turns.push(record);
          this.remember(record);
        }
        return turns.toSorted((one, other) => one.turn - other.turn);
      },
    };
  }

  /** A turn that was committed just now need not be read. */
  remember(record: TurnRecord): void {
    const { sessionId, turn } = record;
    const turns = this.#use(sessionId) ?? new Map<number, TurnRecord>();
    this.#sessions.set(sessionId, turns);
    if (!turns.has(turn)) this.#count += 1;
    turns.set(turn, record);
    this.#forgetOldest();
  }

  /** Most chains list nothing; then it costs nothing. */
  #forgetErased({ redactions }: Pick<Chain, "redactions">): void {
    for (const { sessionId, turns = [] } of redactions ?? [])
      for (const turn of turns) if (this.#sessions.get(sessionId)?.delete(turn) === true) this.#count -= 1;
  }

  /** What is remembered of a session, which counts as used last from now on. */
  #use(sessionId: string): Map<number, TurnRecord> | undefined {
    const turns = this.#sessions.get(sessionId);
    if (turns === undefined) return undefined;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, turns);
    return turns;
  }

  /** Of the session that was used longest ago, what was read first. */
  #forgetOldest(): void {
    for (const [sessionId, turns] of this.#sessions) {
      for (const turn of turns.keys()) {
        if (this.#count <= MAX_TURNS) return;
        turns.delete(turn);
        this.#count -= 1;
      }
      this.#sessions.delete(sessionId);
    }
  }
}
