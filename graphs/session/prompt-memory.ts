/** What a process remembers from one model call to the next, so that a long conversation costs no more than a short one. */
import type { BaseMessage } from "@langchain/core/messages";
import { RecentTurns } from "#src/context/recent-turns.ts";
import { contextMessages, contextTokens } from "#src/context/select-turns.ts";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";
import { toLangChain } from "#src/turns/langchain-messages.ts";
import { soundMessages, type SoundMessages } from "#src/turns/model-input.ts";
import { perDeps } from "./per-deps.ts";
import type { Recalled } from "./recalled.ts";

/** A prompt without the turn in flight, what of memory is in it, and the receipt of what it holds. */
export interface AssembledPrompt {
  readonly prompt: readonly BaseMessage[];
  /** The prompt, where every message of it can be sent as it is. */
  readonly sound: SoundMessages | undefined;
  readonly recalled: Recalled;
  readonly receipt: Receipt;
}

/** What a model is shown of a committed turn. */
export interface ShownTurn {
  readonly messages: readonly BaseMessage[];
  readonly tokens: number;
  /** The messages, where nothing of them has to be repaired or resolved. */
  readonly sound: SoundMessages | undefined;
}

/** Turns that may run at the same time before the prompt of one of them is assembled twice. */
const MAX_PROMPTS = 16;

/**
 * Turns read, messages made and prompts assembled. None of it is in the state: whatever a node returns is streamed to
 * every client, and the system prompt and old turns are not theirs to see.
 */
export class PromptMemory {
  readonly turns = new RecentTurns();
  readonly #shown = new WeakMap<TurnRecord, ShownTurn>();
  readonly #prompts = new Map<string, Promise<AssembledPrompt>>();

  /** The prompt of a request. One that could not be assembled is not remembered. */
  async prompt(requestId: string, assemble: () => Promise<AssembledPrompt>): Promise<AssembledPrompt> {
    const known = this.#prompts.get(requestId);
    if (known !== undefined) return known;
    const assembled = assemble();
    keepNewest(this.#prompts, [requestId, assembled], MAX_PROMPTS);
    assembled.catch(() => this.#prompts.get(requestId) === assembled && this.forget(requestId));
    return assembled;
  }

  /** Has the prompt of a request assembled anew: of what is in it something may have been erased. */
  forget(requestId: string): void {
    this.#prompts.delete(requestId);
  }

  /** What a model is shown of a turn; made once for a record, which does not change. */
  shownOf(record: TurnRecord): ShownTurn {
    const known = this.#shown.get(record);
    if (known !== undefined) return known;
    const messages = contextMessages(record).map((message) => toLangChain(message));
    const shown = { messages, tokens: contextTokens(record), sound: soundMessages(messages) };
    this.#shown.set(record, shown);
    return shown;
  }
}

/** The memory that belongs to a graph's dependencies. */
export const promptMemoryOf = perDeps(() => new PromptMemory());
