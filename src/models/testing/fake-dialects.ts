/** One answer as different servers say it, streamed and whole, as they were seen to send it. */
import { deltaFrame, eventFrame } from "./fake-openai-wire.ts";
import type { FakeBehaviour } from "./fake-openai-server.ts";

/** What every dialect below says: a thought, a sentence, and two calls of `weather`. */
export const SAID = {
  reasoning: "Two cities. ",
  text: "Let me look.",
  calls: [{ city: "Porto" }, { city: "Faro" }],
} as const;

const DONE = "data: [DONE]\n\n";
const USAGE = { prompt_tokens: 7, completion_tokens: 3 };
const ARGS = SAID.calls.map((args) => JSON.stringify(args));

/** Deltas of a stream, and the message of a whole answer. */
interface Dialect {
  readonly deltas: readonly object[];
  readonly message: object;
  readonly end?: string | null;
}

function call(args: unknown, more: object = {}): object {
  return { type: "function", function: { name: "weather", arguments: args }, ...more };
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  "DeepSeek, Kimi, llama.cpp: reasoning_content, calls in pieces": {
    deltas: [
      { role: "assistant", content: null, reasoning_content: SAID.reasoning },
      { content: SAID.text, reasoning_content: null },
      ...ARGS.flatMap((args, index) => [
        { tool_calls: [call("", { index, id: `c${index}` })] },
        { tool_calls: [{ index, function: { arguments: args.slice(0, 4) } }] },
        { tool_calls: [{ index, function: { arguments: args.slice(4) } }] },
      ]),
    ],
    message: {
      role: "assistant",
      content: SAID.text,
      reasoning_content: SAID.reasoning,
      tool_calls: ARGS.map((args, index) => call(args, { id: `c${index}` })),
    },
    end: "tool_calls",
  },
  "Ollama: reasoning, both calls at index 0, stop": {
    deltas: [
      { role: "assistant", content: "", reasoning: SAID.reasoning },
      { role: "assistant", content: SAID.text },
      ...ARGS.map((args, index) => ({
        role: "assistant",
        content: "",
        tool_calls: [call(args, { index: 0, id: `call_${index}` })],
      })),
    ],
    message: {
      role: "assistant",
      content: SAID.text,
      reasoning: SAID.reasoning,
      tool_calls: ARGS.map((args, index) => call(args, { index: 0, id: `call_${index}` })),
    },
    end: "stop",
  },
  "a gateway: arguments as objects, no ids, no index, [DONE] without an end": {
    deltas: [
      { content: `<think>${SAID.reasoning}` },
      { content: `</think>\n\n${SAID.text}` },
      { tool_calls: SAID.calls.map((args) => call(args, { id: null })) },
    ],
    message: {
      content: `<think>${SAID.reasoning}</think>\n\n${SAID.text}`,
      tool_calls: SAID.calls.map((args) => call(args)),
    },
    end: null,
  },
  "Mistral: content in parts, ids of nine letters, whole calls": {
    deltas: [
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: [{ type: "text", text: SAID.reasoning }] }],
      },
      { content: [{ type: "text", text: SAID.text }] },
      { tool_calls: ARGS.map((args, index) => call(args, { index, id: `D681PevK${index}` })) },
    ],
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: [{ type: "text", text: SAID.reasoning }] },
        { type: "text", text: SAID.text },
      ],
      tool_calls: ARGS.map((args, index) => call(args, { index, id: `D681PevK${index}` })),
    },
    end: "tool_calls",
  },
  "vLLM with an older parser: the id and the name again with each piece, and the whole at the end": {
    deltas: [
      { role: "assistant", content: "<thi" },
      { content: `nk>\n${SAID.reasoning}</thi` },
      { content: `nk>${SAID.text}` },
      ...ARGS.flatMap((args, index) => [
        { tool_calls: [call("", { index, id: `c${index}` })] },
        { tool_calls: [call(args.slice(0, 4), { index, id: `c${index}` })] },
        { tool_calls: [call(args.slice(4), { index, id: `c${index}` })] },
        { tool_calls: [call(args, { index, id: `c${index}` })] },
      ]),
    ],
    message: {
      role: "assistant",
      content: `<think>\n${SAID.reasoning}</think>${SAID.text}`,
      tool_calls: ARGS.map((args) => call(args, { id: "" })),
    },
    end: "tool_calls",
  },
};

/** Each dialect by name, as a stream and whole. */
export const FAKE_DIALECTS: readonly (readonly [name: string, behaviour: FakeBehaviour])[] = Object.entries(
  DIALECTS,
).flatMap(([name, { deltas, message, end = null }]) => {
  const frames = deltas.map((delta) => deltaFrame(delta, "m"));
  const last = end === null ? [] : [deltaFrame({}, "m", end), eventFrame({ choices: [], usage: USAGE })];
  const whole = { model: "m", choices: [{ index: 0, message, finish_reason: end }], usage: USAGE };
  return [
    [`${name}, streamed`, { kind: "frames", frames: [...frames, ...last, DONE] }],
    [`${name}, whole`, { kind: "body", body: JSON.stringify(whole) }],
  ] as const;
});
