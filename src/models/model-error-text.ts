/** The words of a failed model call: what happened, what to do next, and nothing that is secret. */

/** What kind of failure it is. */
export type ModelErrorKind =
  | "rate_limit"
  | "overloaded"
  | "auth"
  | "bad_request"
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
  readonly detail: string;
}

/** What happened, in one sentence. */
export function factText(situation: FailureSituation): string {
  const { kind, detail } = situation;
  const status = situation.status === undefined ? "" : ` (HTTP ${situation.status})`;
  const said = detail === "" ? "." : `: ${detail}`;
  switch (kind) {
    case "rate_limit":
      return situation.outOfCredit
        ? "The account at the model server has no credit left."
        : `The model server limits how often it is asked${status}.`;
    case "overloaded":
      return `The model server failed or is overloaded${status}${said}`;
    case "auth":
      return `The model server did not accept the API key${status}.`;
    case "bad_request":
      return `The model server refused the request${status}${said}`;
    case "context_length":
      return `The conversation is too long for the model${status}.`;
    case "unsupported_content":
      return `The model does not take pictures or files of this kind${status}${said}`;
    case "timeout":
      return "The model server took too long to answer.";
    case "connection":
      return `The model server could not be reached${said}`;
    case "cut_stream":
      return "The model's answer broke off before it was complete.";
    case "malformed":
      return "The model server sent an answer that cannot be read.";
    case "aborted":
      return "The model call was stopped.";
    case "unknown":
      return `The model call failed${said}`;
  }
}

/** What to do next, in one sentence. */
export function nextStep(situation: FailureSituation): string {
  switch (situation.kind) {
    case "rate_limit":
      return situation.outOfCredit
        ? "Add credit, or choose another model."
        : `Try again ${waitText(situation.retryAfterMs)}.`;
    case "overloaded":
      return `Try again ${waitText(situation.retryAfterMs)}, or choose another model.`;
    case "auth":
      return "Check OPENAI_API_KEY and that the key may use this model.";
    case "bad_request":
      return "Check the model name and OPENAI_BASE_URL.";
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

/** Longest quote of what a server said, in UTF-16 units: two lines of a terminal. */
const MAX_DETAIL = 160;

/** What looks like a credential: prefixed keys, bearer tokens, key parameters, passwords in addresses. */
const SECRET_SHAPES = [
  /\b(?:sk|pk|rk|gsk|xai|key|token)[-_][\w*.-]{6,}/giu,
  /\b(?:Bearer|Basic)\s+[\w.~+/=*-]+/giu,
  /\b(?:api[-_ ]?key|token|secret|password)\b["']?\s*[:=]\s*["']?[^\s"',}]+/giu,
  /(?<=:\/\/)[^\s/@]+@/gu,
];

/** The first line of a message as a sentence that is safe to show: keys hidden, not longer than two lines; or "". */
export function detailOf(message: string | undefined, secrets: readonly string[]): string {
  const firstLine = message?.trim().split(/\r?\n/u, 1)[0] ?? "";
  if (firstLine === "") return "";
  const hidden = hideSecrets(firstLine, secrets);
  const short = hidden.length > MAX_DETAIL ? `${hidden.slice(0, MAX_DETAIL).toWellFormed()}…` : hidden;
  return /[.!?…]$/u.test(short) ? short : `${short}.`;
}

function hideSecrets(text: string, secrets: readonly string[]): string {
  const listed = secrets
    .filter((secret) => secret !== "")
    .reduce((rest, secret) => rest.replaceAll(secret, "[hidden]"), text);
  return SECRET_SHAPES.reduce((rest, shape) => rest.replace(shape, "[hidden]"), listed);
}
