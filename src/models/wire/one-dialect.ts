/** A `fetch` behind which every chat completions server speaks OpenAI's dialect. */
import { parseJson } from "#src/kernel/json.ts";
import { AnswerEvents } from "./answer-events.ts";
import { errorIn, errorOfText, errorWithoutAnswer } from "./server-error.ts";

/** What a response is asked with; OpenAI's client wants one of this form. */
export type Fetch = typeof fetch;

/**
 * Wraps `base`: an error comes as `{ error: { message, code, type, param } }` with its status, an answer as events, also
 * where the server sent it whole; inside the events {@link AnswerEvents} decides. What cannot be read is passed on as it is.
 */
export function inOneDialect(base: Fetch): Fetch {
  return async (input, init) => {
    const response = await base(input, init);
    if (!response.ok) return withError(response);
    // The client cannot read an answer without a body, and says so of an empty one.
    if (response.body === null) return new Response("", { headers: { "content-type": "text/event-stream" } });
    if (isJson(response)) return asEvents(await response.text(), response);
    // What an answer is, its beginning says better than its type.
    const { begin, body } = await begun(response.body);
    if (begin.startsWith("<")) return asPage(await new Response(body).text(), response);
    if (/^[{[]/u.test(begin)) return asEvents(await new Response(body).text(), response);
    return readEvents(body, response);
  };
}

/** The beginning of an answer, once something has come that is no blank, and the whole answer. */
export async function begun(
  answer: ReadableStream<Uint8Array>,
): Promise<{ readonly begin: string; readonly body: ReadableStream<Uint8Array> }> {
  const [looked, body] = answer.tee();
  const reader = looked.getReader();
  const decoder = new TextDecoder();
  let begin = "";
  while (begin === "") {
    const { done, value } = await reader.read();
    if (done) break;
    begin = decoder.decode(value, { stream: true }).trimStart();
  }
  void reader.cancel();
  return { begin, body };
}

/** A page, which some other program answers: told as what cannot be read, with its title. */
function asPage(text: string, response: Response): Response {
  const message = `it is a web page (${errorOfText(text)?.message ?? ""})`;
  const said = new AnswerEvents().read({ error: { message, type: "SyntaxError" } });
  return remade([...said.map(eventText), DONE].join(""), response);
}

function isJson({ headers }: Response): boolean {
  return /^application\/(?:[\w.+-]*\+)?json\b/iu.test(headers.get("content-type") ?? "");
}

async function withError(response: Response): Promise<Response> {
  const error = errorOfText(await response.text());
  return remade(error === undefined ? null : JSON.stringify({ error }), response, "application/json");
}

/** An answer that came whole as the events of a stream. */
function asEvents(text: string, response: Response): Response {
  const body = parseJson(text);
  // Some servers call their events JSON.
  if (body === undefined) return readEvents(new Blob([text]).stream(), response);
  const events = new AnswerEvents();
  const error = errorIn(body) ?? errorWithoutAnswer(body);
  const said = error === undefined ? [...events.read(body), ...events.done()] : events.read({ error });
  return remade([...said.map(eventText), DONE].join(""), response);
}

function readEvents(body: ReadableStream<Uint8Array>, response: Response): Response {
  const lines = body.pipeThrough(new TextDecoderStream()).pipeThrough(readLines());
  return remade(lines.pipeThrough(new TextEncoderStream()), response);
}

/** Reads whole lines, as they come, and writes events. */
function readLines(): TransformStream<string, string> {
  const reader = new EventLines();
  let begun = "";
  return new TransformStream({
    transform(piece, controller) {
      const lines = (begun + piece).split(/\r\n|\n|\r(?!$)/u);
      begun = lines.pop() ?? "";
      const written = lines.map((line) => reader.read(line)).join("");
      if (written !== "") controller.enqueue(written);
    },
    flush(controller) {
      controller.enqueue(reader.read(begun) + reader.end());
    },
  });
}

const DONE = "data: [DONE]\n\n";

/** The lines of an event stream; of lines without `data:` those that are JSON count too. */
class EventLines {
  readonly #events = new AnswerEvents();
  #name = "";

  read(line: string): string {
    const [, field = "", value = ""] = /^(event|data)\s*:\s?(.*)$/u.exec(line) ?? [];
    if (field === "event") {
      this.#name = value.trim();
      return "";
    }
    const data = field === "data" ? value.trim() : line.startsWith("{") ? line : "";
    if (data === "") return "";
    if (data.startsWith("[DONE]")) return [...this.#events.done().map(eventText), DONE].join("");
    const event = parseJson(data);
    // The client is to say that it cannot be read.
    if (event === undefined) return `data: ${data}\n\n`;
    const said = this.#events.read(event, this.#name === "error");
    this.#name = "";
    return said.map(eventText).join("");
  }

  end(): string {
    return this.#events.flush().map(eventText).join("");
  }
}

function eventText(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function remade(
  body: ReadableStream<Uint8Array> | string | null,
  { status, statusText, headers }: Response,
  type = "text/event-stream",
): Response {
  const kept = new Headers(headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) kept.delete(name);
  kept.set("content-type", type);
  return new Response(body, { status, statusText, headers: kept });
}
