/** Sends a request in the form that every server takes, and once more without what a server has refused, which is remembered. */
import { isRecord, parseJson } from "#src/kernel/json.ts";
import { both, refusedAbility, type Ability, type RequestBody } from "./abilities.ts";
import { begun, type Fetch } from "./one-dialect.ts";
import { errorOfText, type ServerError } from "./server-error.ts";

/** What models turned out not to take, for as long as the program runs. */
export class LeftOut {
  readonly #byModel = new Map<string, Map<Ability, { readonly words: string; isSaid: boolean }>>();

  /** What is left out of requests to a model. */
  of(model: string): readonly Ability[] {
    return [...(this.#byModel.get(model)?.keys() ?? [])];
  }

  /** Remembers a refusal in the server's `words`. */
  add(model: string, refused: ReadonlyMap<Ability, string>): void {
    const known = this.#byModel.get(model) ?? new Map();
    for (const [ability, words] of refused)
      if (!known.has(ability)) known.set(ability, { words, isSaid: false });
    this.#byModel.set(model, known);
  }

  /** One sentence for each refusal that has not been told yet. */
  takeNotices(model: string): string[] {
    return [...(this.#byModel.get(model) ?? [])].flatMap(([{ name, instead }, refusal]) => {
      if (refusal.isSaid) return [];
      refusal.isSaid = true;
      return [`The model ${model} takes no ${name} ("${refusal.words}"): ${instead}.`];
    });
  }
}

/** Statuses that say nothing about what a request asks for: keys, time, size, rate. */
const NO_REFUSAL: ReadonlySet<number> = new Set([401, 402, 403, 408, 413, 429]);

/**
 * Wraps `base`, whose errors are in OpenAI's form. What a server refuses is left out in a further try; when that is
 * answered, it is left out of later requests to the model at once.
 */
export function leavingOut(base: Fetch, leftOut: LeftOut): Fetch {
  return async (input, init) => {
    const asked = requestOf(init?.body);
    if (asked === undefined) return base(input, init);
    const model = String(asked["model"]);
    const refused = new Map<Ability, string>();
    let body = leftOut.of(model).reduce((rest, ability) => ability.without(rest), asked);
    for (;;) {
      const { response, error } = await errorAtOnce(
        await base(input, { ...init, body: JSON.stringify(body) }),
      );
      if (response.ok && error === undefined) leftOut.add(model, refused);
      if (NO_REFUSAL.has(response.status)) return response;
      const ability = error === undefined ? undefined : refusedAbility(error, body);
      if (error === undefined || ability === undefined) return response;
      refused.set(ability, error.message);
      body = ability.without(body);
    }
  };
}

/** A response with the error that its body is, or with which its events begin, whatever its status says. */
async function errorAtOnce(
  response: Response,
): Promise<{ response: Response; error?: ServerError | undefined }> {
  if (!response.ok) return { response, error: errorOfText(await response.clone().text()) };
  if (response.body === null) return { response };
  const { begin, body } = await begun(response.body);
  const [, event = ""] = /^data: (\{"error":.*)$/mu.exec(begin) ?? [];
  const { status, statusText, headers } = response;
  return {
    response: new Response(body, { status, statusText, headers }),
    error: event === "" ? undefined : errorOfText(event),
  };
}

function requestOf(body: unknown): RequestBody | undefined {
  const request = typeof body === "string" ? parseJson(body) : undefined;
  if (!isRecord(request) || !Array.isArray(request["messages"])) return undefined;
  const messages = withNotesInMessage(request["messages"].filter(isRecord));
  return { ...request, messages: messages.map(withThoughtInPlace) };
}

/** Type of the content part that carries what a model thought before it called tools, as far as the request. */
export const THOUGHT = "thought";

/** A message with that part where servers look for it: DeepSeek and Kimi refuse a call without. */
function withThoughtInPlace(message: Record<string, unknown>): Record<string, unknown> {
  const parts = Array.isArray(message["content"]) ? message["content"].filter(isRecord) : [];
  const thought = parts.find(({ type }) => type === THOUGHT);
  if (thought === undefined) return message;
  const text = parts.filter((part) => part !== thought).map((part) => String(part["text"]));
  return { ...message, content: text.join(""), reasoning_content: thought["text"] };
}

/** A message as far as it matters here. */
interface RoledMessage {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** The messages with each system message but the first as the beginning of the user's message behind it. */
export function withNotesInMessage<M extends RoledMessage>(messages: readonly M[]): M[] {
  const folded: M[] = [];
  let notes: unknown;
  for (const [index, message] of messages.entries()) {
    if (index > 0 && (message.role === "system" || message.role === "developer")) {
      notes = notes === undefined ? message.content : both(notes, message.content);
    } else if (notes !== undefined && message.role === "user") {
      folded.push({ ...message, content: both(notes, message.content) });
      notes = undefined;
    } else folded.push(message);
  }
  const [first] = messages;
  return notes === undefined || first === undefined
    ? folded
    : [...folded, { ...first, role: "user", content: notes }];
}
