/** The bytes of OpenAI's chat completions API, as a fake server sends them: whole answers and stream frames. */

/** An answer that the fake server gives in full. */
export type FakeAnswer =
  | { readonly kind: "text"; readonly chunks: readonly string[]; readonly finishReason?: string }
  | { readonly kind: "toolCalls"; readonly calls: readonly FakeToolCall[] }
  | { readonly kind: "refusal"; readonly text: string };

/** A tool call; `arguments` is sent as it is, broken JSON included. */
interface FakeToolCall {
  /** Left out, the call has no id, as some servers send it. */
  readonly id?: string;
  readonly name: string;
  readonly arguments: string;
  /** Left out, the position in the list. */
  readonly index?: number;
}

/** Usage that every answer reports when it is asked to. */
const FAKE_USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

/** All answers carry the same id, as answers of careless servers may. */
const ANSWER_ID = "chatcmpl-1";

/** The body of an answer that is not streamed. */
export function completionBody(answer: FakeAnswer, model: string): object {
  const choice = { index: 0, message: messageOf(answer), finish_reason: finishReasonOf(answer) };
  return {
    id: ANSWER_ID,
    object: "chat.completion",
    created: 0,
    model,
    choices: [choice],
    usage: FAKE_USAGE,
  };
}

/** The server-sent events of a streamed answer, up to and with `[DONE]`. */
export function streamFrames(
  answer: FakeAnswer,
  model: string,
  options: { readonly usage: boolean },
): string[] {
  return [
    deltaFrame({ role: "assistant", content: "" }, model),
    ...deltasOf(answer).map((delta) => deltaFrame(delta, model)),
    deltaFrame({}, model, finishReasonOf(answer)),
    ...(options.usage ? [eventFrame({ ...chunkBase(model), choices: [], usage: FAKE_USAGE })] : []),
    "data: [DONE]\n\n",
  ];
}

/** One server-sent event with a piece of an answer. */
export function deltaFrame(delta: object, model: string, finishReason: string | null = null): string {
  return eventFrame({ ...chunkBase(model), choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

/** One server-sent event with `data` as JSON. */
export function eventFrame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function chunkBase(model: string): object {
  return { id: ANSWER_ID, object: "chat.completion.chunk", created: 0, model };
}

function messageOf(answer: FakeAnswer): object {
  switch (answer.kind) {
    case "text":
      return { role: "assistant", content: answer.chunks.join("") };
    case "refusal":
      return { role: "assistant", content: null, refusal: answer.text };
    case "toolCalls":
      return { role: "assistant", content: null, tool_calls: answer.calls.map(wholeCall) };
  }
}

function finishReasonOf(answer: FakeAnswer): string {
  if (answer.kind === "toolCalls") return "tool_calls";
  return answer.kind === "text" ? (answer.finishReason ?? "stop") : "stop";
}

function wholeCall(call: FakeToolCall): object {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function deltasOf(answer: FakeAnswer): object[] {
  switch (answer.kind) {
    case "text":
      return answer.chunks.map((content) => ({ content }));
    case "refusal":
      return [{ refusal: answer.text }];
    case "toolCalls":
      return answer.calls.flatMap((call, position) => callDeltas(call, call.index ?? position));
  }
}

/** As OpenAI does it: the name first, then the arguments in pieces, here of five characters. */
function callDeltas(call: FakeToolCall, index: number): object[] {
  const pieces = call.arguments.match(/[\s\S]{1,5}/gu) ?? [];
  const opening = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
  return [
    { tool_calls: [opening] },
    ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}
