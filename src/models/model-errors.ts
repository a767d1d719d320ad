/** Says what went wrong with a model call, whether trying again can help, and what a person can do about it. */
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";
import {
  factText,
  nextStep,
  ownWords,
  type FailureSituation,
  type ModelErrorKind,
} from "./model-error-text.ts";
import { isModelStreamError } from "./stream-guard.ts";

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

export interface ClassifyOptions {
  /** Texts that must not appear in a message; what looks like a key is hidden in any case. */
  readonly secrets?: readonly string[];
}

const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  "rate_limit",
  "overloaded",
  "timeout",
  "connection",
  "cut_stream",
  "malformed",
]);

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
  ["rate_limit", /rate_limit|insufficient_quota/iu],
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
export function classifyModelError(error: unknown, options: ClassifyOptions = {}): ModelFailure {
  const situation = situationOf(error, options.secrets ?? []);
  return {
    kind: situation.kind,
    retryable: RETRYABLE.has(situation.kind) && !situation.outOfCredit,
    ...(situation.retryAfterMs === undefined ? {} : { retryAfterMs: situation.retryAfterMs }),
    streamed: isModelStreamError(error) && error.streamed,
    message: `${factText(situation)} ${nextStep(situation)}`,
  };
}

/** The error to report for a failed call: a `LilyError` as it is, anything else as `model_failed` in plain words. */
export function modelFailedError(error: unknown, options: ClassifyOptions = {}): LilyError {
  if (isLilyError(error)) return error;
  const situation = situationOf(error, options.secrets ?? []);
  return new LilyError("model_failed", factText(situation), { next: nextStep(situation), cause: error });
}

/** What an error and its causes say, outermost first. OpenAI's client throws `APIError { status, code, type, headers }`. */
interface Facts {
  readonly status: number | undefined;
  /** Names, codes and types, separated by blanks. */
  readonly signs: string;
  readonly messages: readonly string[];
  readonly headers: Headers | undefined;
}

function situationOf(error: unknown, secrets: readonly string[]): FailureSituation {
  const facts = factsOf(error);
  const kind = kindOf(error, facts);
  return {
    kind,
    status: facts.status,
    retryAfterMs: retryAfterOf(facts.headers),
    outOfCredit: /insufficient_quota|InsufficientQuotaError/u.test(facts.signs) || facts.status === 402,
    // Of a connection the innermost error tells most (`connect ECONNREFUSED 127.0.0.1:11434`), of the rest the server's.
    words: isOfProgram(error, kind)
      ? ""
      : ownWords(kind === "connection" ? facts.messages.at(-1) : facts.messages[0], secrets),
  };
}

/** What a mistake of the program says (`x is not a function`) helps nobody who reads it; the cause is kept. */
function isOfProgram(error: unknown, kind: ModelErrorKind): boolean {
  return kind === "unknown" && (error instanceof TypeError || error instanceof ReferenceError);
}

function kindOf(error: unknown, facts: Facts): ModelErrorKind {
  if (isModelStreamError(error) && error.failure !== "interrupted") return error.failure;
  const kind = kindByFacts(facts);
  const broken = kind === "connection" || kind === "unknown";
  return broken && isModelStreamError(error) ? "cut_stream" : kind;
}

/** A status outranks the signs; a prompt that is too long, and content that is not taken, outrank their status. */
function kindByFacts({ status, signs, messages }: Facts): ModelErrorKind {
  const said = (pattern: RegExp): boolean => messages.some((message) => pattern.test(message));
  if (ABORT.test(signs)) return "aborted";
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
