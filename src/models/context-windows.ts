/** How many tokens a model is given: by what is configured, by a table of known models, and by what their servers say. */
import type { Clock } from "#src/kernel/clock.ts";

/** Windows in tokens by the beginning of a model's name; the first that fits counts. Unknown models have none here. */
const KNOWN: readonly (readonly [RegExp, number])[] = [
  [/^gpt-(?:4\.1|5\.[45])/u, 1_000_000],
  [/^(?:gpt-5|o[134])/u, 200_000],
  [/^(?:gpt-4o|gpt-4-(?:turbo|1106|0125)|gpt-oss|chatgpt)/u, 128_000],
  [/^gpt-4-32k/u, 32_768],
  [/^gpt-4/u, 8_192],
  [/^gpt-3\.5/u, 16_385],
  [/^claude/u, 200_000],
  [/^gemini/u, 1_000_000],
  [/^(?:deepseek|kimi|grok|glm-4|qwen3|mistral-(?:large|small|medium)|llama-?(?:3\.[123]|4))/u, 128_000],
  [/^(?:llama-?3|gemma2?\b)/u, 8_192],
  [/^(?:gemma-?3|phi-?4|qwen-?2)/u, 32_768],
  [/^(?:llama-?2|phi-?[23])/u, 4_096],
];

/** Of a window, this is kept for the answer: a quarter, and no more than most answers need. */
const ANSWER_SHARE = 0.25;
const ANSWER_TOKENS = 4_096;

/** Counts by estimate of fewer tokens say little. */
const LEAST_COUNTED = 100;
/** How long a refusal counts: then the server may take more, or have meant something else. One more costs a call in vain. */
const REFUSAL_MS = 600_000;
/** How far an estimate may be off; a server that counts stranger things is not followed. */
const MOST_CORRECTION = 4;

/** What is configured for a model. */
export interface ConfiguredWindow {
  /** Most tokens of a prompt, whatever the model takes. */
  readonly limit: number;
  /** Window of the model, in place of the table's. */
  readonly window?: number | undefined;
}

/** What a process learns about the windows of its models. Made once, and passed on. */
export class ContextWindows {
  /** Tokens as a server counts them for one by estimate, by model reference; never below one. */
  readonly #corrections = new Map<string, number>();
  /** Most estimated tokens, where a server has refused more, and until when that counts. */
  readonly #refused = new Map<string, { readonly most: number; readonly untilMs: number }>();
  readonly #clock: Pick<Clock, "monotonic">;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Most estimated tokens of a prompt for a model. */
  budgetOf(reference: string, { limit, window = knownWindow(reference) }: ConfiguredWindow): number {
    const room = window === undefined ? Infinity : window - Math.min(ANSWER_TOKENS, window * ANSWER_SHARE);
    const counted = Math.min(limit, room) / (this.#corrections.get(reference) ?? 1);
    return Math.floor(Math.min(counted, this.#mostOf(reference)));
  }

  /** A server has counted a prompt. An estimate that was too high is left at that: some leave out what they cached. */
  count(
    reference: string,
    { estimated, counted }: { readonly estimated: number; readonly counted: number },
  ): void {
    if (estimated < LEAST_COUNTED || counted <= 0) return;
    const before = this.#corrections.get(reference) ?? 1;
    const now = Math.min(MOST_CORRECTION, Math.max(1, counted / estimated));
    // What is worse is believed at once, what is better by and by.
    const corrected = now >= before ? now : Math.max(now, before - (before - now) / 8);
    // Steps of a tenth: a budget that moves with each call would move the beginning of the prompt.
    this.#corrections.set(reference, Math.ceil(corrected * 10) / 10);
  }

  /** A server has refused a prompt as too long: for a while the next ones are at most half as long. */
  tooLong(reference: string, estimated: number): void {
    const most = Math.min(this.#mostOf(reference), Math.floor(estimated / 2));
    this.#refused.set(reference, { most, untilMs: this.#clock.monotonic() + REFUSAL_MS });
  }

  #mostOf(reference: string): number {
    const refused = this.#refused.get(reference);
    return refused === undefined || refused.untilMs <= this.#clock.monotonic() ? Infinity : refused.most;
  }
}

/** The window of a model by its name, without what stands before it (`openai:meta/`); `undefined` where it is not known. */
function knownWindow(reference: string): number | undefined {
  const name = reference
    .toLowerCase()
    .replace(/^[a-z]+:/u, "")
    .replace(/^.*\//u, "");
  return KNOWN.find(([begins]) => begins.test(name))?.[1];
}
