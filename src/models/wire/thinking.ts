/** Splits an answer whose model writes its thoughts into the text (`<think>…</think>`) into reasoning and text. */

/** Opening and closing marks of the model families that think aloud. */
const MARKS: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<reasoning>", "</reasoning>"],
  ["<seed:think>", "</seed:think>"],
  ["[THINK]", "[/THINK]"],
  ["◁think▷", "◁/think▷"],
  ["<|channel|>analysis<|message|>", "<|channel|>final<|message|>"],
];

/** A piece of an answer, taken apart. */
export interface ThoughtAndText {
  readonly reasoning: string;
  readonly text: string;
}

/**
 * Takes an answer apart as it comes. Thoughts stand before the answer: a mark in the middle of text is text, as in an
 * answer about such marks. Blank space between thoughts and text belongs to neither.
 */
export class ThinkingSplitter {
  #held = "";
  /** The closing mark that is awaited, while thoughts come. */
  #close: string | undefined;
  #state: "start" | "after" | "text" = "start";

  /** What is known with this piece; the beginning of what may become a mark waits for the rest of it. */
  push(piece: string): ThoughtAndText {
    if (this.#state === "text") return { reasoning: "", text: piece };
    this.#held += piece;
    let reasoning = "";
    for (;;) {
      if (this.#close !== undefined) {
        reasoning += this.#takeThought(this.#close);
        if (this.#close !== undefined) return { reasoning, text: "" };
      }
      const begun = this.#held.trimStart();
      const mark = MARKS.find(([open]) => begun.startsWith(open));
      if (mark === undefined) {
        if (MARKS.some(([open]) => open.startsWith(begun))) return { reasoning, text: "" };
        return { reasoning, text: this.#takeText() };
      }
      this.#held = begun.slice(mark[0].length);
      this.#close = mark[1];
    }
  }

  /** What has waited, at the end of the answer. */
  end(): ThoughtAndText {
    if (this.#close === undefined) return { reasoning: "", text: this.#takeText() };
    const reasoning = this.#held;
    this.#held = "";
    return { reasoning, text: "" };
  }

  #takeThought(close: string): string {
    const at = this.#held.indexOf(close);
    const end = at === -1 ? this.#held.length - begunLength(this.#held, close) : at;
    const thought = this.#held.slice(0, end);
    this.#held = this.#held.slice(at === -1 ? end : at + close.length);
    if (at !== -1) {
      this.#close = undefined;
      this.#state = "after";
    }
    return thought;
  }

  #takeText(): string {
    const text = this.#state === "after" ? this.#held.trimStart() : this.#held;
    this.#held = "";
    this.#state = "text";
    return text;
  }
}

/** Length of the end of `text` that may be the beginning of `mark`. */
function begunLength(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}
