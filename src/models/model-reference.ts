/** Model references, the short texts by which people and configuration name a model; and which one answers by default. */
import { LilyError } from "#src/kernel/errors.ts";

/** What answers. `symbolic` is the built-in solver, which calls no model; `scripted` exists in tests only. */
export type ModelReference =
  | { readonly provider: "symbolic" }
  | { readonly provider: "openai" | "scripted"; readonly model: string };

/** Longest reference in UTF-16 units; the longest model ids in public use (fine-tunes, file paths) stay under 150. */
export const MAX_REFERENCE_LENGTH = 200;

/**
 * Reads a reference. Only the first colon separates, and what stands before a colon is always a provider
 * (`openai:llama3.1:8b`): a bare name with a colon (`llama3.1:8b`, `anthropic:claude`) is refused, never guessed at.
 * A bare name without a colon means the OpenAI-compatible server. Providers may be written in any case; white space
 * around the reference does not count.
 *
 * @throws {LilyError} `model_unknown`
 */
export function parseModelReference(text: string): ModelReference {
  const reference = text.trim();
  if (reference === "") throw modelUnknown("The model reference is blank.");
  if (reference.length > MAX_REFERENCE_LENGTH) {
    const length = `${reference.length} characters; ${MAX_REFERENCE_LENGTH} is the most`;
    throw modelUnknown(`The model reference has ${length}.`);
  }
  if (/\p{Cc}/u.test(reference) || !reference.isWellFormed())
    throw modelUnknown("The model reference holds characters that cannot be printed.");
  if (reference.toLowerCase() === "symbolic") return { provider: "symbolic" };
  const [, prefix = "openai", model = ""] = /^(?:([^:]*):)?(.*)$/u.exec(reference) ?? [];
  const provider = prefix.trim().toLowerCase();
  if (provider === "symbolic")
    throw modelUnknown("`symbolic` is the built-in solver and takes no model name.");
  if (!isProvider(provider)) {
    const next = `For a model of that name on an OpenAI-compatible server write openai:${reference}.`;
    throw modelUnknown(`No model provider is called "${prefix}".`, next);
  }
  if (model.trim() === "") throw modelUnknown(`"${provider}:" names no model.`);
  return { provider, model: model.trim() };
}

/** Whether `text` begins with a provider that {@link parseModelReference} knows, or is `symbolic`. */
export function namesProvider(text: string): boolean {
  const [prefix = "", ...rest] = text.trim().toLowerCase().split(":");
  return prefix === "symbolic" || (rest.length > 0 && isProvider(prefix));
}

/** The full text of a reference, which reads back as the same reference. */
export function printModelReference(reference: ModelReference): string {
  return reference.provider === "symbolic" ? "symbolic" : `${reference.provider}:${reference.model}`;
}

function isProvider(text: string): text is "openai" | "scripted" {
  return text === "openai" || text === "scripted";
}

function modelUnknown(
  message: string,
  next = "Name a model as openai:<model>, or symbolic for none.",
): LilyError {
  return new LilyError("model_unknown", message, { next });
}

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
export function defaultModelReference(env: Environment, configured = ""): string {
  const [lily, model, ...server] = ["LILY_MODEL", "OPENAI_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"].map(
    (name) => (env[name] ?? "").trim(),
  );
  const chosen = configured.trim() || lily || `openai:${model || DEFAULT_OPENAI_MODEL}`;
  if (configured.trim() === "" && server.every((setting) => setting === "")) return "symbolic";
  const isName = configured.trim() === "" && !namesProvider(chosen);
  return printModelReference(parseModelReference(isName ? `openai:${chosen}` : chosen));
}
