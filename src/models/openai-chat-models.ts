/** Chat models of OpenAI and of every server that speaks its chat completions API. */
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import type { ChatModelOptions, ChatModels } from "./chat-model.ts";
import { type Environment, parseModelReference } from "./model-reference.ts";
import { LeftOut, leavingOut } from "./wire/leave-out.ts";
import { inOneDialect, type Fetch } from "./wire/one-dialect.ts";

/** Where the models are and how long they may take. */
export interface OpenAISettings {
  /** Left out, a placeholder is sent when `baseURL` is given: local servers want some key and accept any. */
  readonly apiKey?: string | undefined;
  /** Root of the API, with its version (`http://localhost:11434/v1`). Left out, OpenAI's own. */
  readonly baseURL?: string | undefined;
  /** Longest silence of the server in one attempt, in milliseconds: before the first token and between tokens. */
  readonly timeoutMs?: number | undefined;
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";
const PLACEHOLDER_KEY = "not-needed";

/** Two minutes: a local model may read a long prompt that long before its first token. */
const DEFAULT_TIMEOUT_MS = 120_000;

/** The settings that the environment gives: `OPENAI_API_KEY` and `OPENAI_BASE_URL`. Blank counts as not set. */
export function openAISettingsOf(env: Environment): OpenAISettings {
  return { apiKey: textOf(env["OPENAI_API_KEY"]), baseURL: textOf(env["OPENAI_BASE_URL"]) };
}

/**
 * Makes the source of models behind `settings`. The client package is loaded with the first model, not before.
 * Only the chat completions API is used. Nothing is read from the environment but what OpenAI's client reads by itself
 * (organization, project, extra headers); `LANGSMITH_GATEWAY` is overruled by the explicit base URL.
 */
export function createOpenAIChatModels(settings: OpenAISettings): ChatModels {
  const leftOut = new LeftOut();
  const request: Fetch = (input, init) => leavingOut(inOneDialect(fetch), leftOut)(input, init);
  return {
    takeNotices: (reference) => leftOut.takeNotices(modelNameOf(reference)),
    async chatModel(reference, options = {}) {
      const model = modelNameOf(reference);
      const server = serverOf(settings);
      const { OpenAICompletionsModel: Model } = await import("./openai-completions-model.ts");
      return new Model(fieldsOf(model, options, { ...server, request }), { silenceMs: server.timeoutMs });
    },
  };
}

function modelNameOf(reference: string): string {
  const parsed = parseModelReference(reference);
  if (parsed.provider === "openai") return parsed.model;
  throw new LilyError("model_unknown", `${reference} is not a model of an OpenAI-compatible server.`, {
    next: "Name a model as openai:<model>.",
  });
}

type Server = Readonly<Required<{ [key in keyof OpenAISettings]: NonNullable<OpenAISettings[key]> }>>;

function serverOf(settings: OpenAISettings): Server {
  if (settings.apiKey === undefined && settings.baseURL === undefined) {
    throw new LilyError("config_invalid", "No model server is configured.", {
      next: "Put OPENAI_API_KEY or OPENAI_BASE_URL into .env and start again, or type /model reset.",
    });
  }
  const baseURL = settings.baseURL ?? OPENAI_BASE_URL;
  assertAddress(baseURL);
  return {
    apiKey: settings.apiKey ?? PLACEHOLDER_KEY,
    baseURL,
    timeoutMs: settings.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  };
}

function assertAddress(baseURL: string): void {
  if (URL.canParse(baseURL) && /^https?:$/u.test(new URL(baseURL).protocol)) return;
  throw new LilyError("config_invalid", "The base URL of the model server is not an http or https address.", {
    next: "Set OPENAI_BASE_URL to an address such as http://localhost:11434/v1.",
  });
}

/** `maxRetries` is 0: LangChain waits a second and more before each retry, blindly, and cannot be told otherwise. */
function fieldsOf(model: string, options: ChatModelOptions, server: Server & { readonly request: Fetch }) {
  return {
    model,
    apiKey: server.apiKey,
    streaming: true,
    // A server that refuses to be asked for usage is asked without it from then on.
    streamUsage: true,
    maxRetries: 0,
    timeout: server.timeoutMs,
    ...defined({ temperature: options.temperature }),
    // As raw fields: LangChain sends its own only to models whose name it knows, and a local gpt-oss is not one.
    modelKwargs: defined({ reasoning_effort: options.reasoningEffort, verbosity: options.verbosity }),
    // Unreadable chunks are reported through errors; the client would also print them, over the terminal's own lines.
    configuration: { baseURL: server.baseURL, logLevel: "off", fetch: server.request },
  } as const;
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === "" ? undefined : text;
}
