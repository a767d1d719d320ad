/**
 * The one thing that a process remembers between turns: committed turns that it has read, as a model is shown them. A
 * conversation that goes on reads only what is new in it, so that a long one costs no more than a short one.
 */
import type { BaseMessage } from "@langchain/core/messages";
import {
  collapsedMessages,
  contextMessages,
  messagesTokens,
  nameResults,
  shortenedMessages,
} from "#src/context/shown-messages.ts";
import type { GivenTurns } from "#src/sessions/call-receipt.ts";
import type { Message } from "#src/sessions/message.ts";
import type { Chain } from "#src/sessions/chain.ts";
import { erasedTurns } from "#src/sessions/redaction.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { TurnReader } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { toLangChain } from "./langchain-messages.ts";

/** Turns that are remembered over all sessions; about 3 kB each. */
const MAX_TURNS = 2_000;

/** What a model is shown of a committed turn, in one form. */
export interface ShownTurn {
  readonly messages: readonly BaseMessage[];
  readonly tokens: number;
}

/** The turns that were used last. They can be kept, because a committed turn does not change but by being erased. */
export class ShownTurns {
  /** By session and number, the one that was used longest ago first. */
  readonly #records = new Map<string, TurnRecord>();
  readonly #shown = new WeakMap<TurnRecord, Map<string, ShownTurn>>();

  /**
   * Reads turns through the memory.
   *
   * @param chain as it was read for this turn: what it lists as erased is neither remembered nor read, whichever process
   *   erased it, also where the erasure did not finish
   */
  over(
    repository: Pick<SessionRepository, "lastStoredTurn" | "readTurns">,
    chain: Pick<Chain, "redactions">,
  ): TurnReader {
    for (const { sessionId, turns = [] } of chain.redactions ?? [])
      for (const turn of turns) this.#records.delete(keyOf(sessionId, turn));
    return {
      lastStoredTurn: (ref) => repository.lastStoredTurn(ref),
      readTurns: async (ref, { from, to }) => {
        const erased = erasedTurns(chain, ref.sessionId);
        const all = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
        const wanted = all.filter((turn) => !erased.has(turn));
        const unknown = wanted.filter((turn) => !this.#records.has(keyOf(ref.sessionId, turn)));
        const [first] = unknown;
        const read =
          first === undefined
            ? []
            : await repository.readTurns(ref, { from: first, to: unknown.at(-1) ?? first });
        const fresh = new Map(read.map((record) => [record.turn, record]));
        const records = wanted.flatMap(
          (turn) => fresh.get(turn) ?? this.#records.get(keyOf(ref.sessionId, turn)) ?? [],
        );
        for (const record of records) this.remember(record);
        return records;
      },
    };
  }

  /** A turn that was committed just now need not be read. */
  remember(record: TurnRecord): void {
    const key = keyOf(record.sessionId, record.turn);
    this.#records.delete(key);
    this.#records.set(key, record);
    const [oldest] = this.#records.keys();
    if (oldest !== undefined && this.#records.size > MAX_TURNS) this.#records.delete(oldest);
  }

  /** What a model is shown of a turn, in a form. */
  show(record: TurnRecord, form: Pick<GivenTurns, "as" | "tokens"> = {}): ShownTurn {
    const forms = this.#shown.get(record) ?? new Map<string, ShownTurn>();
    const key = `${form.as ?? ""} ${form.tokens ?? ""}`;
    const known = forms.get(key);
    if (known !== undefined) return known;
    const given = messagesIn(record, form);
    const shown = { messages: given.map((message) => toLangChain(message)), tokens: messagesTokens(given) };
    this.#shown.set(record, forms.set(key, shown));
    return shown;
  }
}

function messagesIn(
  record: TurnRecord,
  { as, tokens = 0 }: Pick<GivenTurns, "as" | "tokens">,
): readonly Message[] {
  const messages = contextMessages(record);
  switch (as) {
    case undefined:
      return messages;
    case "collapsed":
      return collapsedMessages(messages, nameResults(record.messages, record));
    case "shortened":
      return shortenedMessages(messages, tokens);
  }
}

const keyOf = (sessionId: string, turn: number): string => `${sessionId}/${turn}`;
