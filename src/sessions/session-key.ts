/** Which texts may be a session key, an owner, a session id or a delivery id, and how an adapter builds a key from parts. */
import { LilyError, type ErrorCode } from "#src/kernel/errors.ts";
import { encodeLabel, isUuid } from "#src/kernel/ids.ts";

/** Longest owner, session key or delivery id, in UTF-16 code units. */
const MAX_ID_LENGTH = 1024;

// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/u;

/**
 * Gives back `value` as a session key: opaque, case-sensitive, any Unicode, never changed.
 *
 * @throws {LilyError} `session_key_invalid` when it is not a string, blank, too long, or holds control characters
 *   or half a surrogate pair.
 */
export function parseSessionKey(value: unknown): string {
  return parseId(value, "session key", "session_key_invalid");
}

/** Also those that have no width, or the one of an empty braille cell. */
const BLANK_ENDS = /^[\s\u200b\u2060\u2800]+|[\s\u200b\u2060\u2800]+$/gu;

/**
 * Refuses a name under which nothing is kept yet and that begins or ends with a blank: it would look like another one.
 * What an earlier version kept under such a name is reached as before.
 *
 * @throws {LilyError} `session_key_invalid`
 */
export function assertNoBlankEnds(value: string, what: "session key" | "owner"): void {
  const plain = value.replaceAll(BLANK_ENDS, "");
  if (value === plain) return;
  throw new LilyError(
    "session_key_invalid",
    `${shown(value)} is not a ${what}: it begins or ends with a blank`,
    {
      next: `Use ${shown(plain)}. Nothing was stored.`,
    },
  );
}

/** Gives back `value` as a delivery id, under the same rules as a session key. @throws `delivery_id_invalid` */
export function parseDeliveryId(value: unknown): string {
  return parseId(value, "delivery id", "delivery_id_invalid");
}

/** Gives back `value` as an owner, under the same rules as a session key. @throws `session_key_invalid` */
export function parseOwner(value: unknown): string {
  return parseId(value, "owner", "session_key_invalid");
}

/** Gives back `value` as a session id. @throws {LilyError} `session_id_invalid` when it is not a UUID */
export function parseSessionId(value: unknown): string {
  if (typeof value === "string" && isUuid(value)) return value.toLowerCase();
  throw new LilyError("session_id_invalid", `${shown(value)} is not a session id`, {
    next: "A session id is a UUID; /sessions lists them.",
  });
}

function parseId(value: unknown, what: string, code: ErrorCode): string {
  const problem = problemOf(value);
  if (problem === undefined && typeof value === "string") return value;
  throw new LilyError(code, `${shown(value)} is not a ${what}: it ${problem ?? "is not text"}`, {
    next: `Use text of 1 to ${MAX_ID_LENGTH} characters that is not blank and has no control characters.`,
  });
}

function problemOf(value: unknown): string | undefined {
  if (typeof value !== "string") return `is ${value === null ? "null" : typeof value}`;
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(value)) return "is blank";
  if (value.length > MAX_ID_LENGTH) return `has ${value.length} characters, more than ${MAX_ID_LENGTH}`;
  if (CONTROL_CHARACTERS.test(value)) return "holds control characters";
  return value.isWellFormed() ? undefined : "holds half of a surrogate pair";
}

function shown(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : `a ${typeof value}`;
  const short = value.length > 40 ? `${value.slice(0, 40)}…` : value;
  return JSON.stringify(short.toWellFormed());
}

/**
 * A session key from the parts by which a channel tells conversations apart, e.g. `["telegram", "dm", "42"]`.
 * Reads as the parts joined with ":"; a ":" or "\" inside a part is escaped, so different parts give different keys.
 */
export function composeSessionKey(parts: readonly string[]): string {
  return parseSessionKey(
    parts.map((part) => part.replaceAll(/[\\:]/gu, (character) => `\\${character}`)).join(":"),
  );
}

/** Name of the lock of a key; owner and key are labels, so "/" separates them safely. */
export function lockName(ref: { readonly owner: string; readonly sessionKey: string }): string {
  return `turn/${encodeLabel(ref.owner)}/${encodeLabel(ref.sessionKey)}`;
}
