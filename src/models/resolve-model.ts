/** Decides which model answers when nobody has chosen one. */
import { namesProvider, parseModelReference, printModelReference } from "./model-reference.ts";

/** Environment variables as a value; `process.env` fits. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Model that is asked for when a server is configured and no model is named: cheap, and calls tools well. */
const DEFAULT_OPENAI_MODEL = "gpt-4o-mini";

/**
 * The reference of the model that answers by default: `configured` if given; else, when `OPENAI_API_KEY` or
 * `OPENAI_BASE_URL` is set, the model named by `LILY_MODEL` or `OPENAI_MODEL` or {@link DEFAULT_OPENAI_MODEL};
 * else `symbolic`. Blank variables count as not set.
 *
 * `LILY_MODEL` is a reference (`symbolic`, `openai:gpt-4o`); when it names no known provider, and always for
 * `OPENAI_MODEL`, it is a model name of the OpenAI-compatible server, colons included (`llama3.1:8b`).
 *
 * @throws {LilyError} `model_unknown` when the text that decides is not a reference.
 */
export function defaultModelReference(env: Environment, configured?: string): string {
  if (isSet(configured)) return normalized(configured);
  if (!isSet(env["OPENAI_API_KEY"]) && !isSet(env["OPENAI_BASE_URL"])) return "symbolic";
  const lilyModel = env["LILY_MODEL"];
  if (isSet(lilyModel))
    return namesProvider(lilyModel) ? normalized(lilyModel) : normalized(`openai:${lilyModel}`);
  const model = env["OPENAI_MODEL"];
  return normalized(`openai:${isSet(model) ? model : DEFAULT_OPENAI_MODEL}`);
}

function normalized(reference: string): string {
  return printModelReference(parseModelReference(reference));
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== "";
}
