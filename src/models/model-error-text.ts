/** The words of a failed model call: what happened, what to do next, and nothing that is secret. */

/** What kind of failure it is. */
export type ModelErrorKind =
  | "rate_limit"
  | "overloaded"
  | "auth"
  | "bad_request"
  | "bad_messages"
  | "context_length"
  | "unsupported_content"
  | "timeout"
  | "connection"
  | "cut_stream"
  | "malformed"
  | "aborted"
  | "unknown";

/** What the words depend on. */
export interface FailureSituation {
  readonly kind: ModelErrorKind;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** Whether the account has no credit, which waiting does not mend. */
  readonly outOfCredit: boolean;
  /** What the server or system said, safe to show; "" when it said nothing. */
  readonly words: string;
}

const FACTS: Readonly<Record<ModelErrorKind, string>> = {
  rate_limit: "The model server limits how often it is asked",
  overloaded: "The model server failed or is overloaded",
  auth: "The model server did not accept the API key",
  bad_request: "The model server refused the request",
  bad_messages: "The model server refused the messages of the conversation",
  context_length: "The conversation is too long for the model",
  unsupported_content: "The model does not take pictures or files of this kind",
  timeout: "The model server took too long to answer",
  connection: "The model server could not be reached",
  cut_stream: "The model's answer broke off before it was complete",
  malformed: "The model server sent an answer that cannot be read",
  aborted: "The model call was stopped",
  unknown: "The model call failed",
};

/** What happened, with the status and the server's own words, each once. */
export function factText({ kind, status, outOfCredit, words }: FailureSituation): string {
  const fact = outOfCredit ? "The account at the model server has no credit left" : FACTS[kind];
  const withStatus = status === undefined ? fact : `${fact} (HTTP ${status})`;
  return words === "" ? `${withStatus}.` : `${withStatus}: ${words}`;
}

/** What to do next, in one sentence. */
export function nextStep(situation: FailureSituation): string {
  if (situation.outOfCredit) return "Add credit, or choose another model.";
  switch (situation.kind) {
    case "rate_limit":
      return `Try again ${waitText(situation.retryAfterMs)}.`;
    case "overloaded":
      return `Try again ${waitText(situation.retryAfterMs)}, or choose another model.`;
    case "auth":
      return "Check OPENAI_API_KEY and that the key may use this model.";
    case "bad_request":
      return "Check the model name and OPENAI_BASE_URL.";
    case "bad_messages":
      return "Start anew with /new, or choose another model with /model.";
    case "context_length":
      return "Shorten the message, start anew with /new, or choose a model with a larger context.";
    case "unsupported_content":
      return "Choose a model that takes them with /model, or send the message without them.";
    case "connection":
      return "Check that the server at OPENAI_BASE_URL is running and the network is up.";
    case "malformed":
      return "Try again; if it stays, check that OPENAI_BASE_URL is the root of a chat completions API.";
    case "timeout":
    case "cut_stream":
    case "aborted":
    case "unknown":
      return "Send the message again.";
  }
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
export function ownWords(message: string | undefined, secrets: readonly string[]): string {
  const words = (message ?? "")
    .replace(/\s*Troubleshooting URL: \S*\s*$/u, "")
    .replace(/^\s*([45]\d\d)\s+(?:status code \(no body\)|\1\b[\s:]*)?/u, "")
    .replaceAll(/\s+/gu, " ")
    .trim();
  if (words === "") return "";
  const hidden = hideSecrets(words, secrets);
  const short = hidden.length > MAX_WORDS ? `${hidden.slice(0, MAX_WORDS).toWellFormed()}…` : hidden;
  return /[.!?…]$/u.test(short) ? short : `${short}.`;
}

function hideSecrets(text: string, secrets: readonly string[]): string {
  const listed = secrets
    .filter((secret) => secret !== "")
    .reduce((rest, secret) => rest.replaceAll(secret, "[hidden]"), text);
  return SECRET_SHAPES.reduce((rest, shape) => rest.replace(shape, "[hidden]"), listed);
}
