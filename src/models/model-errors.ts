/** Says what went wrong with a model call, whether trying again can help, and what a person can do about it. */
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { readErrorFacts, type ErrorFacts } from "./error-facts.ts";
import {
  detailOf,
  factText,
  nextStep,
  type FailureSituation,
  type ModelErrorKind,
} from "./model-error-text.ts";
import { isModelStreamError } from "./stream-error.ts";

/** A failed model call, classified. */
export interface ModelFailure {
  readonly kind: ModelErrorKind;
  /** Whether the same request can succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Whether part of the answer had already reached the caller. */
  readonly streamed: boolean;
  /** What happened and what to do, in plain words. Holds no key. */
  readonly message: string;
}

const RETRYABLE: Readonly<Record<ModelErrorKind, boolean>> = {
  rate_limit: true,
  overloaded: true,
  timeout: true,
  connection: true,
  cut_stream: true,
  malformed: true,
  auth: false,
  bad_request: false,
  context_length: false,
  unsupported_content: false,
  aborted: false,
  unknown: false,
};

/** Options of {@link classifyModelError}. */
export interface ClassifyOptions {
  /** Texts that must not appear in a message; what looks like a key is hidden in any case. */
  readonly secrets?: readonly string[];
}

/** Classifies anything that a model call threw. */
export function classifyModelError(error: unknown, options: ClassifyOptions = {}): ModelFailure {
  const situation = situationOf(error, options.secrets ?? []);
  return {
    kind: situation.kind,
    retryable: RETRYABLE[situation.kind] && !situation.outOfCredit,
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

function situationOf(error: unknown, secrets: readonly string[]): FailureSituation {
  const facts = readErrorFacts(error);
  return {
    kind: kindOf(error, facts),
    status: facts.status,
    retryAfterMs: facts.retryAfterMs,
    outOfCredit: isOutOfCredit(facts),
    detail: detailOf(facts.messages.at(isModelStreamError(error) ? 1 : 0), secrets),
  };
}

function kindOf(error: unknown, facts: ErrorFacts): ModelErrorKind {
  if (isModelStreamError(error) && error.failure !== "interrupted") return error.failure;
  const kind = RULES.find((rule) => rule.holds(facts))?.kind ?? "unknown";
  const broken = kind === "connection" || kind === "unknown";
  return broken && isModelStreamError(error) ? "cut_stream" : kind;
}

interface Rule {
  readonly kind: ModelErrorKind;
  holds(facts: ErrorFacts): boolean;
}

/** First rule that holds decides. A status outranks the words around it; a long prompt outranks its status. */
const RULES: readonly Rule[] = [
  { kind: "aborted", holds: named(/^(?:AbortError|ModelAbortError|APIUserAbortError)$/u) },
  { kind: "context_length", holds: isTooLong },
  { kind: "auth", holds: answered(401, 403) },
  { kind: "rate_limit", holds: answered(429) },
  { kind: "timeout", holds: answered(408) },
  // Some answer so with 500: trying again does not help.
  { kind: "unsupported_content", holds: isUnsupported },
  { kind: "overloaded", holds: ({ status = 0 }) => status === 409 || status >= 500 },
  { kind: "bad_request", holds: ({ status }) => status !== undefined },
  { kind: "rate_limit", holds: coded(/^(?:rate_limit\w*|insufficient_quota)$/iu) },
  { kind: "auth", holds: coded(/^(?:invalid_api_key|authentication_error|permission_error)$/iu) },
  { kind: "overloaded", holds: coded(/overloaded|server_?error|service_unavailable/iu) },
  { kind: "bad_request", holds: coded(/^(?:invalid_request_error|model_not_found|BadRequestError)$/iu) },
  {
    kind: "timeout",
    holds: either(named(/^(?:TimeoutError|APIConnectionTimeoutError)$/u), coded(/TIMEDOUT|TIMEOUT/u)),
  },
  { kind: "cut_stream", holds: said(/^terminated$|premature close/iu) },
  {
    kind: "connection",
    holds: either(coded(/^(?:E[A-Z_]+|UND_ERR_\w+)$/u), said(/fetch failed|connection error/iu)),
  },
  { kind: "malformed", holds: either(named(/^SyntaxError$/u), said(/empty response from chat model/iu)) },
];

/** Too many tokens a minute is not too many tokens: a 429 is never about the prompt alone. */
function isTooLong(facts: ErrorFacts): boolean {
  if (facts.status === 429) return false;
  if (facts.status === 413 || facts.names.includes("ContextOverflowError")) return true;
  return (
    coded(/context_length|context_size/iu)(facts) ||
    said(/maximum context length|context (?:window|size)|prompt is too long|input tokens exceed/iu)(facts)
  );
}

/** Servers say it in their own words: `does not support image input`, `image_url is only supported by certain models`. */
function isUnsupported(facts: ErrorFacts): boolean {
  const isAbout = said(/\b(?:images?|image_url|vision|audio|input_audio|files?|multi-?modal)\b/iu)(facts);
  return (
    isAbout && said(/\b(?:not|n't|only) support|unsupported|no endpoints found|must have mime type/iu)(facts)
  );
}

function isOutOfCredit(facts: ErrorFacts): boolean {
  return facts.codes.includes("insufficient_quota") || facts.names.includes("InsufficientQuotaError");
}

function answered(...statuses: readonly number[]): Rule["holds"] {
  return ({ status }) => status !== undefined && statuses.includes(status);
}

function coded(pattern: RegExp): Rule["holds"] {
  return ({ codes }) => codes.some((code) => pattern.test(code));
}

function named(pattern: RegExp): Rule["holds"] {
  return ({ names }) => names.some((name) => pattern.test(name));
}

function said(pattern: RegExp): Rule["holds"] {
  return ({ messages }) => messages.some((message) => pattern.test(message));
}

function either(...rules: readonly Rule["holds"][]): Rule["holds"] {
  return (facts) => rules.some((holds) => holds(facts));
}
