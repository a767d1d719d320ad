/** Embedder references, the short texts by which the configuration names what makes vectors, and the embedder of each. */
import { LilyError } from "#src/kernel/errors.ts";
import type { Embedder } from "./embedder.ts";
import { createOpenAIEmbedder, type OpenAIEmbedderSettings } from "./openai-embedder.ts";
import { createUseLiteEmbedder } from "./use-lite-embedder.ts";

const LOCAL = "local:use-lite";
const MAX_REFERENCE_LENGTH = 200;

/**
 * The reference as it is kept: `none`, `local:use-lite` or `openai:<model>`. Only the first colon separates
 * (`openai:nomic-embed-text:v1.5`); a provider may be written in any case.
 *
 * @throws {LilyError} `model_unknown`
 */
export function embedderReference(text: string): string {
  const reference = text.trim();
  if (reference.length > MAX_REFERENCE_LENGTH || /\p{Cc}/u.test(reference) || !reference.isWellFormed())
    throw unknown("The embedder reference is too long or cannot be printed.");
  const lower = reference.toLowerCase();
  if (lower === "none" || lower === LOCAL) return lower;
  const model = /^openai\s*:(?<model>.+)$/iu.exec(reference)?.groups?.["model"]?.trim() ?? "";
  if (model === "") throw unknown(`"${reference}" names no embedder.`);
  return `openai:${model}`;
}

/**
 * Makes the embedder of `reference`; `undefined` for `none`. Nothing is loaded or asked before the first text.
 *
 * @throws {LilyError} `model_unknown` for a reference that is none; `config_invalid` when no server is configured.
 */
export function createEmbedder(reference: string, server: OpenAIEmbedderSettings): Embedder | undefined {
  const name = embedderReference(reference);
  if (name === "none") return undefined;
  return name === LOCAL
    ? createUseLiteEmbedder()
    : createOpenAIEmbedder(name.slice("openai:".length), server);
}

function unknown(message: string): LilyError {
  return new LilyError("model_unknown", message, {
    next: "Write none, openai:<model> for an OpenAI-compatible server, or local:use-lite.",
  });
}
