/** Reads the events of a streamed answer, in whatever dialect, and says the same in OpenAI's form. */
import { isRecord } from "#src/kernel/json.ts";
import { errorIn } from "./server-error.ts";
import { ThinkingSplitter, type ThoughtAndText } from "./thinking.ts";
import { ToolCallPieces } from "./tool-call-pieces.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Where servers put what a model thought. */
const REASONING = ["reasoning_content", "reasoning", "thinking", "thought"];

/** Other words for why an answer ended. What is in no list is told as it is. */
const END_WORDS: Readonly<Record<string, readonly string[]>> = {
  stop: ["stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete"],
  length: ["length", "max_tokens", "model_length", "max_output_tokens"],
  content_filter: ["content_filter", "content_filtered", "safety", "prohibited_content", "refusal"],
  tool_calls: ["tool_calls", "tool_call", "tool_use", "function_call"],
};

/** Reads one answer, event by event. Its only role is the assistant's; ids of answers are left out. */
export class AnswerEvents {
  readonly #thinking = new ThinkingSplitter();
  readonly #calls = new ToolCallPieces();
  #model: unknown;
  #hasBegun = false;
  #hasEnded = false;

  /**
   * What `event` says, in OpenAI's form: pieces of an answer, usage, or `{ error }`.
   *
   * @param isError whether the server sent it under the name `error`
   */
  read(event: unknown, isError = false): Fields[] {
    const error = errorIn(isError && isRecord(event) ? { error: event["error"] ?? event } : event);
    if (error !== undefined) return [{ error }];
    if (!isRecord(event)) return [];
    this.#model = event["model"] ?? this.#model;
    const choice: unknown = Array.isArray(event["choices"]) ? event["choices"][0] : undefined;
    const usage = usageOf(event["usage"]);
    const told = usage === undefined ? [] : [{ model: this.#model, choices: [], usage }];
    if (!isRecord(choice)) return told;
    const ofChoice = errorIn(choice);
    return ofChoice === undefined ? [...this.#readChoice(choice), ...told] : [{ error: ofChoice }];
  }

  /** What is left to be said at the server's `[DONE]`: the end, where it named none. */
  done(): Fields[] {
    const rest = this.flush();
    return this.#hasBegun && !this.#hasEnded ? [...rest, ...this.#end("stop")] : rest;
  }

  /** What waited for more, at the end of the stream. */
  flush(): Fields[] {
    return this.#delta(this.#thinking.end());
  }

  #readChoice(choice: Fields): Fields[] {
    this.#hasBegun = true;
    const delta = [choice["delta"], choice["message"]].find(isRecord) ?? { content: choice["text"] };
    const { reasoning, text } = contentOf(delta);
    const said = this.#thinking.push(text);
    const calls = callsOf(delta);
    const tool_calls = calls === undefined ? [] : this.#calls.read(calls);
    const pieces = this.#delta({ reasoning: reasoning + said.reasoning, text: said.text }, tool_calls);
    const reason = choice["finish_reason"] ?? choice["stop_reason"];
    if (typeof reason !== "string" || reason === "" || reason === "null") return pieces;
    return this.#hasEnded ? pieces : [...pieces, ...this.flush(), ...this.#end(reason)];
  }

  #delta({ reasoning, text }: ThoughtAndText, tool_calls: readonly object[] = []): Fields[] {
    if (reasoning === "" && text === "" && tool_calls.length === 0) return [];
    return [
      this.#chunk({
        content: text,
        ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
        ...(tool_calls.length === 0 ? {} : { tool_calls }),
      }),
    ];
  }

  #end(reason: string): Fields[] {
    this.#hasEnded = true;
    const known = Object.entries(END_WORDS).find(([, words]) => words.includes(reason.toLowerCase()));
    const end = known?.[0] ?? reason;
    return [this.#chunk({}, end === "stop" && this.#calls.areThere ? "tool_calls" : end)];
  }

  #chunk(delta: object, finish_reason: string | null = null): Fields {
    const choices = [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason }];
    return { object: "chat.completion.chunk", model: this.#model, choices };
  }
}

/** Mistral sends content in parts, some of which are thoughts. A refusal is what the model says, so it becomes the text. */
function contentOf(delta: Fields): ThoughtAndText {
  const { content, refusal } = delta;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const isThought = (part: unknown): boolean => isRecord(part) && /think|reason/u.test(String(part["type"]));
  const text = parts
    .filter((part) => !isThought(part))
    .map(textIn)
    .join("");
  const thoughts = [REASONING.map((key) => textIn(delta[key])).find((thought) => thought !== "") ?? ""];
  return {
    reasoning: [...thoughts, ...parts.filter(isThought).map(textIn)].join(""),
    text: text === "" && typeof refusal === "string" ? refusal : text,
  };
}

function textIn(part: unknown): string {
  if (typeof part === "string") return part;
  if (Array.isArray(part)) return part.map(textIn).join("");
  if (!isRecord(part)) return "";
  return textIn(part["text"] ?? part["thinking"] ?? part["reasoning"] ?? part["content"]);
}

/** The tool calls of a delta, also in the form before there were several at once. */
function callsOf(delta: Fields): unknown {
  const { tool_calls: calls, function_call: call } = delta;
  if (Array.isArray(calls) || isRecord(calls)) return calls;
  return isRecord(call) ? [{ index: 0, function: call }] : undefined;
}

function usageOf(usage: unknown): Fields | undefined {
  if (!isRecord(usage)) return undefined;
  const count = (value: unknown): number => (typeof value === "number" && value >= 0 ? value : 0);
  const prompt_tokens = count(usage["prompt_tokens"] ?? usage["input_tokens"]);
  const completion_tokens = count(usage["completion_tokens"] ?? usage["output_tokens"]);
  const total_tokens = count(usage["total_tokens"]) || prompt_tokens + completion_tokens;
  return total_tokens === 0 ? undefined : { ...usage, prompt_tokens, completion_tokens, total_tokens };
}
