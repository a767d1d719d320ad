/** Embedders of OpenAI and of every server that speaks its embeddings API. */
import { LilyError } from "#src/kernel/errors.ts";
import { embeddingFailed, type Embedder } from "./embedder.ts";

/** Where the model is and how long it may take. */
export interface OpenAIEmbedderSettings {
  /** Left out, a placeholder is sent when `baseURL` is given: local servers want some key and accept any. */
  readonly apiKey?: string | undefined;
  /** Root of the API, with its version. Left out, OpenAI's own. */
  readonly baseURL?: string | undefined;
  /** Shorter vectors, for models that can be asked for them; left out, the model's own length. */
  readonly dimensions?: number | undefined;
  /** Longest wait for an answer, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";
const PLACEHOLDER_KEY = "not-needed";
const DEFAULT_TIMEOUT_MS = 20_000;

/** Small batches: a local server computes them one after the other within the timeout. */
const TEXTS_PER_REQUEST = 32;

/**
 * Makes the embedder of a model. The client package is loaded with the first text. It asks once: what fails is asked again
 * with the next question, or when vectors are filled the next time.
 *
 * @throws {LilyError} `config_invalid` when neither key nor address is set.
 */
export function createOpenAIEmbedder(model: string, settings: OpenAIEmbedderSettings): Embedder {
  const { apiKey, baseURL, dimensions, timeoutMs = DEFAULT_TIMEOUT_MS } = settings;
  if (apiKey === undefined && baseURL === undefined) throw noServer(model);
  const name = `openai:${model}${dimensions === undefined ? "" : `/${dimensions}`}`;
  const fields = {
    model,
    apiKey: apiKey ?? PLACEHOLDER_KEY,
    timeout: timeoutMs,
    maxRetries: 0,
    batchSize: TEXTS_PER_REQUEST,
    // Left to itself the client asks for base64, which compatible servers ignore; it then reads numbers as text.
    encodingFormat: "float",
    configuration: { baseURL: baseURL ?? OPENAI_BASE_URL, logLevel: "off" },
    ...(dimensions === undefined ? {} : { dimensions }),
  } as const;
  return {
    model: name,
    async embed(texts) {
      const { OpenAIEmbeddings } = await import("@langchain/openai");
      try {
        return await new OpenAIEmbeddings(fields).embedDocuments([...texts]);
      } catch (error) {
        throw embeddingFailed({ model: name }, reasonOf(error), error);
      }
    },
  };
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

// A server's own words may hold what was sent to it, which is somebody's memory; the status says enough.
function reasonOf(error: unknown): string {
  const status = statusOf(error);
  return status === undefined ? "no answer from its server" : `its server answered with status ${status}`;
}

function noServer(model: string): LilyError {
  return new LilyError("config_invalid", `No server is configured for the embedder openai:${model}.`, {
    next: "Put OPENAI_API_KEY or OPENAI_BASE_URL into .env and start again, or set memory.embedder to none.",
  });
}
