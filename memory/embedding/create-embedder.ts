/** The embedder that a reference names. */
import type { Embedder } from "./embedder.ts";
import { parseEmbedderReference } from "./embedder-reference.ts";
import { createOpenAIEmbedder, type OpenAIEmbedderSettings } from "./openai-embedder.ts";
import { createUseLiteEmbedder } from "./use-lite-embedder.ts";

/** What embedders need beside their name. */
export interface EmbedderSettings {
  /** The server, by the same environment variables as for chat models. */
  readonly server: OpenAIEmbedderSettings;
}

/**
 * Makes the embedder of `reference`; `undefined` for `none`. Nothing is loaded or asked before the first text.
 *
 * @throws {LilyError} `model_unknown` for a reference that is none; `config_invalid` when no server is configured.
 */
export function createEmbedder(reference: string, { server }: EmbedderSettings): Embedder | undefined {
  const parsed = parseEmbedderReference(reference);
  switch (parsed.provider) {
    case "none":
      return undefined;
    case "openai":
      return createOpenAIEmbedder(parsed.model, server);
    case "local":
      return createUseLiteEmbedder();
  }
}
