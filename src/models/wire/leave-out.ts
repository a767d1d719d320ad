/** Asks once more without what a server has refused, and remembers it. */
import { isRecord } from "#src/kernel/json.ts";
import { refusedAbility, type Ability, type RequestBody } from "./abilities.ts";
import type { Fetch } from "./one-dialect.ts";
import { withNotesInMessage } from "./late-notes.ts";
import { withSentThoughts } from "./sent-thoughts.ts";
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
  const reader = response.body?.getReader();
  if (reader === undefined) return { response };
  const first = await reader.read();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (first.value !== undefined) controller.enqueue(first.value);
      if (first.done) controller.close();
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const [, event = ""] = /^data: (\{"error":.*)$/mu.exec(new TextDecoder().decode(first.value)) ?? [];
  const { status, statusText, headers } = response;
  return {
    response: new Response(body, { status, statusText, headers }),
    error: event === "" ? undefined : errorOfText(event),
  };
}

function requestOf(body: unknown): RequestBody | undefined {
  if (typeof body !== "string") return undefined;
  const request: unknown = JSON.parse(body);
  if (!isRecord(request) || !Array.isArray(request["messages"])) return undefined;
  return withSentThoughts({ ...request, messages: withNotesInMessage(request["messages"].filter(isRecord)) });
}
