/** Says what went wrong with a model call, whether trying again can help, and what a person can do about it; nothing secret. */
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";
import { isModelStreamError } from "./stream-guard.ts";

/** What is told of a kind of failure. */
interface Kind {
  readonly fact: string;
  /** What a person can do; `{when}` stands for when to try again. */
  readonly next: string;
  /** The same request can succeed later without anybody changing anything. */
  readonly isPassing?: true;
}

const KINDS = {
  rate_limit: {
    fact: "The model server limits how often it is asked",
    next: "Try again {when}.",
    isPassing: true,
  },
  overloaded: {
    fact: "The model server failed or is overloaded",
    next: "Try again {when}, or choose another model.",
    isPassing: true,
  },
  auth: {
    fact: "The model server did not accept the API key",
    next: "Check OPENAI_API_KEY and that the key may use this model.",
  },
  no_credit: {
    fact: "The account at the model server has no credit left",
    next: "Add credit, or choose another model.",
  },
  bad_request: {
    fact: "The model server refused the request",
    next: "Check the model name and OPENAI_BASE_URL.",
  },
  bad_messages: {
    fact: "The model server refused the messages of the conversation",
    next: "Start anew with /new, or choose another model with /model.",
  },
  context_length: {
    fact: "The conversation is too long for the model",
    next: "Shorten the message, start anew with /new, or choose a model with a larger context.",
  },
  unsupported_content: {
    fact: "The model does not take pictures or files of this kind",
    next: "Choose a model that takes them with /model, or send the message without them.",
  },
  timeout: {
    fact: "The model server took too long to answer",
    next: "Send the message again.",
    isPassing: true,
  },
  connection: {
    fact: "The model server could not be reached",
    next: "Check that the server at OPENAI_BASE_URL is running and the network is up.",
    isPassing: true,
  },
  cut_stream: {
    fact: "The model's answer broke off before it was complete",
    next: "Send the message again.",
    isPassing: true,
  },
  malformed: {
    fact: "The model server sent an answer that cannot be read",
    next: "Try again; if it stays, check that OPENAI_BASE_URL is the root of a chat completions API.",
    isPassing: true,
  },
  aborted: { fact: "The model call was stopped", next: "Send the message again." },
  unknown: { fact: "The model call failed", next: "Send the message again." },
} as const satisfies Record<string, Kind>;

type ModelErrorKind = keyof typeof KINDS;

/** A failed model call, classified. */
export interface ModelFailure {
  readonly kind: ModelErrorKind;
  /** Whether the same request can succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Whether part of the answer had already reached the caller. */
  readonly streamed: boolean;
  /** What happened and what to do, in plain words, with those of the server. Holds no key. */
  readonly message: string;
}

/** Kinds by HTTP status; other ones below 500 are `bad_request`, and from there on `overloaded`. */
const BY_STATUS: Readonly<Record<number, ModelErrorKind>> = {
  401: "auth",
  403: "auth",
  408: "timeout",
  409: "overloaded",
  413: "context_length",
  429: "rate_limit",
};

/** Kinds by the names of errors and the codes and types of servers and sockets, where no status decides. First match. */
const BY_SIGN: readonly (readonly [ModelErrorKind, RegExp])[] = [
  ["rate_limit", /rate_limit/iu],
  ["auth", /invalid_api_key|authentication_error|permission_error/iu],
  ["overloaded", /overloaded|server_?error|service_unavailable/iu],
  ["bad_request", /invalid_request_error|model_not_found|BadRequestError/iu],
  ["timeout", /TimeoutError|TIMEDOUT|_TIMEOUT/u],
  ["malformed", /SyntaxError/u],
  ["connection", /\bE[A-Z_]{4,}\b|UND_ERR_|APIConnectionError/u],
];

const ABORT = /\b(?:AbortError|ModelAbortError|APIUserAbortError)\b/u;
const TOO_LONG_SIGN = /ContextOverflowError|context_length|context_size|max_prompt_tokens/iu;
/** How servers say it that have no code for it: OpenAI's and its kin, Anthropic, Gemini, Bedrock, Cohere, Kimi, Qwen, GLM, TGI. */
const TOO_LONG_WORDS = new RegExp(
  [
    /maximum (?:context|prompt|model|input|sequence) length/,
    /context (?:window|size|length|limit)/,
    /\b(?:prompt|inputs?|conversation|context) (?:is |are |was )?too (?:long|large)/,
    /too many (?:input )?tokens/,
    /\b(?:input|prompt)s?\b[^.\n]{0,24}\b(?:length|tokens?)\b[^.\n]{0,40}\bexceed/,
    /prompt exceeds max|exceed\w* (?:the )?model token limit|max tokens of \d+ exceeded/,
    /range of input length|\binputs`? (?:tokens \+|must have less than)/,
    /reduce the length of (?:the|your) (?:messages|prompt|input)|超长/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "iu",
);
/** A limit of tokens a minute that waiting does not lift: the request alone is above it. */
const ALONE_TOO_LARGE = /request too large|tokens must be reduced/iu;
const OTHER_CONTENT = /\b(?:images?|image_url|vision|audio|input_audio|files?|multi-?modal)\b/iu;
const NOT_TAKEN = /\b(?:not|n't|only) support|unsupported|no endpoints found|must have mime type/iu;
const ABOUT_MESSAGES = /\bmessages?\b|\btool_calls?\b|\btool_call_id\b|\broles?\b|reasoning_content/iu;

/** Classifies anything that a model call threw. */
export function classifyModelError(error: unknown): ModelFailure {
  const { kind, retryAfterMs, fact, next } = situationOf(error);
  const { isPassing }: Kind = KINDS[kind];
  return {
    kind,
    retryable: isPassing === true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    streamed: isModelStreamError(error) && error.streamed,
    message: `${fact} ${next}`,
  };
}

/** The error to report for a failed call: a `LilyError` as it is, anything else as `model_failed` in plain words. */
export function modelFailedError(error: unknown): LilyError {
  if (isLilyError(error)) return error;
  const { fact, next } = situationOf(error);
  return new LilyError("model_failed", fact, { next, cause: error });
}

/** The kind of an error; what happened, with the status and the server's own words, each once; and what to do next. */
function situationOf(error: unknown) {
  const { status, messages, headers, ...facts } = factsOf(error);
  const kind = kindOf(error, { status, messages, ...facts });
  const retryAfterMs = retryAfterOf(headers);
  // What a mistake of the program says (`x is not a function`) helps nobody who reads it; the cause is kept.
  const isOfProgram = kind === "unknown" && (error instanceof TypeError || error instanceof ReferenceError);
  // Of a connection the innermost error tells most (`connect ECONNREFUSED 127.0.0.1:11434`), of the rest the server's.
  const words = isOfProgram ? "" : ownWords(kind === "connection" ? messages.at(-1) : messages[0]);
  const withStatus = status === undefined ? KINDS[kind].fact : `${KINDS[kind].fact} (HTTP ${status})`;
  const fact = words === "" ? `${withStatus}.` : `${withStatus}: ${words}`;
  return { kind, retryAfterMs, fact, next: KINDS[kind].next.replace("{when}", waitText(retryAfterMs)) };
}

/** What an error and its causes say, outermost first. OpenAI's client throws `APIError { status, code, type, headers }`. */
interface Facts {
  readonly status: number | undefined;
  /** Names, codes and types, separated by blanks. */
  readonly signs: string;
  readonly messages: readonly string[];
  readonly headers: Headers | undefined;
}

function kindOf(error: unknown, facts: Omit<Facts, "headers">): ModelErrorKind {
  if (isModelStreamError(error) && error.failure !== "interrupted") return error.failure;
  const kind = kindByFacts(facts);
  const broken = kind === "connection" || kind === "unknown";
  return broken && isModelStreamError(error) ? "cut_stream" : kind;
}

/** A status outranks the signs; a prompt that is too long, and content that is not taken, outrank their status. */
function kindByFacts({ status, signs, messages }: Omit<Facts, "headers">): ModelErrorKind {
  const said = (pattern: RegExp): boolean => messages.some((message) => pattern.test(message));
  if (ABORT.test(signs)) return "aborted";
  if (status === 402 || /insufficient_quota|InsufficientQuotaError/u.test(signs)) return "no_credit";
  // Too many tokens a minute is not too many tokens.
  const isTooLong =
    status === 429 ? said(ALONE_TOO_LARGE) : TOO_LONG_SIGN.test(signs) || said(TOO_LONG_WORDS);
  if (isTooLong) return "context_length";
  const byStatus = status === undefined ? undefined : BY_STATUS[status];
  if (byStatus !== undefined) return byStatus;
  // Some answer so with 500: trying again does not help.
  if (said(OTHER_CONTENT) && said(NOT_TAKEN)) return "unsupported_content";
  if (status !== undefined && status >= 500) return "overloaded";
  if (status === 400 || status === 422) return said(ABOUT_MESSAGES) ? "bad_messages" : "bad_request";
  if (status !== undefined) return "bad_request";
  if (said(/^terminated$|premature close/iu)) return "cut_stream";
  if (said(/empty response from chat model/iu)) return "malformed";
  // As some say under status 200.
  if (said(/\bmodel\b[^.\n]{0,99}\b(?:not found|not exist|not loaded)\b|\bno such model\b/iu))
    return "bad_request";
  return (
    BY_SIGN.find(([, sign]) => sign.test(signs))?.[0] ?? (said(/^fetch failed/iu) ? "connection" : "unknown")
  );
}

/** Causes are followed this deep: wrapper, client, fetch, socket, and one to spare. */
const MAX_DEPTH = 5;

function factsOf(error: unknown): Facts {
  const links: Readonly<Record<string, unknown>>[] = [];
  for (let next = error; links.length < MAX_DEPTH && next !== undefined && next !== null;) {
    const link = (typeof next === "object" ? next : { message: errorMessage(next) }) as Record<
      string,
      unknown
    >;
    links.push(link);
    next = link["cause"];
  }
  const texts = (...keys: readonly string[]): string[] =>
    links
      .flatMap((link) => keys.map((key) => link[key]))
      .filter((text) => typeof text === "string" && text !== "") as string[];
  return {
    status: links.flatMap(({ status, code }) => [status, Number(code)]).find(isErrorStatus),
    signs: [...texts("name", "code", "type"), ...links.map((link) => link.constructor?.name)].join(" "),
    messages: links
      .filter((link) => !isModelStreamError(link))
      .map(({ message }) => message)
      .filter((text) => typeof text === "string" && text !== "") as string[],
    headers: links.map(({ headers }) => headers).find((headers) => headers instanceof Headers),
  };
}

function isErrorStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 400 && value <= 599;
}

/** Dates are measured against the server's own `date`, so no local clock is asked. */
function retryAfterOf(headers: Headers | undefined): number | undefined {
  const [exact, after] = [headers?.get("retry-after-ms"), headers?.get("retry-after")];
  if (isAmount(exact)) return Number(exact);
  if (isAmount(after)) return Number(after) * 1000;
  const waitMs = Date.parse(after ?? "") - Date.parse(headers?.get("date") ?? "");
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function isAmount(text: string | null | undefined): text is string {
  return typeof text === "string" && /^\s*\d+(?:\.\d+)?\s*$/u.test(text);
}

function waitText(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return "in a moment";
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return seconds < 120 ? `in ${seconds} s` : `in ${Math.ceil(seconds / 60)} min`;
}

/** Longest quote of what a server said, in UTF-16 units: four lines of a terminal. */
const MAX_WORDS = 320;

/** What looks like a credential: prefixed keys, bearer tokens, key parameters, passwords in addresses. */
const SECRET_SHAPES = [
  /\b(?:sk|pk|rk|gsk|xai|key|token)[-_][\w*.-]{6,}/giu,
  /\b(?:Bearer|Basic)\s+[\w.~+/=*-]+/giu,
  /\b(?:api[-_ ]?key|token|secret|password)\b["']?\s*[:=]\s*["']?[^\s"',}]+/giu,
  /(?<=:\/\/)[^\s/@]+@/gu,
];

/**
 * The message of an error as a sentence that is safe to show, or "": keys hidden, not longer than four lines, without the
 * status that OpenAI's client puts before it and the address that LangChain puts after it.
 */
function ownWords(message: string | undefined): string {
  const words = (message ?? "")
    .replace(/\s*Troubleshooting URL: \S*\s*$/u, "")
    .replace(/^\s*([45]\d\d)\s+(?:status code \(no body\)|\1\b[\s:]*)?/u, "")
    .replaceAll(/\s+/gu, " ")
    .trim();
  if (words === "") return "";
  const hidden = SECRET_SHAPES.reduce((rest, shape) => rest.replace(shape, "[hidden]"), words);
  const short = hidden.length > MAX_WORDS ? `${hidden.slice(0, MAX_WORDS).toWellFormed()}…` : hidden;
  return /[.!?…]$/u.test(short) ? short : `${short}.`;
}
