/** Embedder references: the short texts by which the configuration names what makes vectors. */
import { LilyError } from "#src/kernel/errors.ts";

/** What makes vectors; `none`: search goes by words alone. */
export type EmbedderReference =
  | { readonly provider: "none" }
  | { readonly provider: "openai"; readonly model: string }
  | { readonly provider: "local"; readonly model: LocalModel };

/** Models that run in this process. */
export const LOCAL_MODELS = ["use-lite"] as const;

/** Name of a model that runs in this process. */
export type LocalModel = (typeof LOCAL_MODELS)[number];

const MAX_REFERENCE_LENGTH = 200;

/**
 * Reads a reference. Only the first colon separates (`openai:nomic-embed-text:v1.5`); a provider may be written in any
 * case; a name without a provider is refused, since `none` is the only word that stands alone.
 *
 * @throws {LilyError} `model_unknown`
 */
export function parseEmbedderReference(text: string): EmbedderReference {
  const reference = text.trim();
  if (reference.length > MAX_REFERENCE_LENGTH || /\p{Cc}/u.test(reference) || !reference.isWellFormed())
    throw unknown("The embedder reference is too long or cannot be printed.");
  const [prefix = "", ...rest] = reference.split(":");
  const model = rest.join(":").trim();
  const provider = prefix.trim().toLowerCase();
  if (provider === "none" && rest.length === 0) return { provider };
  if (provider === "openai" && model !== "") return { provider, model };
  const local = LOCAL_MODELS.find((name) => name === model.toLowerCase());
  if (provider === "local" && local !== undefined) return { provider, model: local };
  throw unknown(`"${reference}" names no embedder.`);
}

/** The full text of a reference, which reads back as the same reference. */
export function printEmbedderReference(reference: EmbedderReference): string {
  return reference.provider === "none" ? "none" : `${reference.provider}:${reference.model}`;
}

function unknown(message: string): LilyError {
  return new LilyError("model_unknown", message, {
    next: "Write none, openai:<model> for an OpenAI-compatible server, or local:use-lite.",
  });
}
