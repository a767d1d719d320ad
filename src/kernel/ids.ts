/** Identifiers as a value that is passed in, ids derived from what they stand for, and ids as labels of a namespace. */
import { v5 as uuidV5 } from "uuid";

/** Whether a text has the shape of a UUID, which LangGraph servers demand of thread ids. */
export { validate as isUuid } from "uuid";

/** Source of fresh identifiers and salts. */
export interface Ids {
  /** A new UUID, lower case. */
  uuid(): string;
  /** At least 128 random bits as base64url text. */
  salt(): string;
}

const LILY_NAMESPACE = "6f0f6c3e-6f5b-5d0a-9b57-0d6b1d1c9a11";

/**
 * The UUIDv5 that stands for `parts`, always the same for the same parts in the same order.
 * Parts are length-prefixed, so `["a:b", "c"]` and `["a", "b:c"]` differ.
 */
export function deriveUuid(...parts: readonly string[]): string {
  return uuidV5(parts.map((part) => `${part.length}:${part}`).join("|"), LILY_NAMESPACE);
}

/** Ids that count up, for tests that must produce the same bytes each time. `seed` keeps two sources apart. */
export function createSequentialIds(seed = 1): Ids {
  let next = 0;
  return {
    uuid() {
      next += 1;
      return deriveUuid("sequential", String(seed), String(next));
    },
    salt() {
      next += 1;
      return `salt-${seed}-${String(next).padStart(16, "0")}`;
    },
  };
}

// ASCII letters, digits and "-", and everything beyond ASCII that is well formed, stand for themselves. The rest is
// written as "=" and two hex digits: "." and ":" separate labels in some stores, "%" and "_" are wildcards in others,
// and "=" is the escape itself.
const PLAIN = /^[A-Za-z0-9-]$/;

/**
 * The label for `id`. Different ids have different labels, equal ids equal ones; case and Unicode form are kept.
 * An empty id gives `=`, which no other id gives.
 */
export function encodeLabel(id: string): string {
  if (id === "") return "=";
  let label = "";
  for (const character of id) {
    label += PLAIN.test(character) || character > "\u009f" ? character : escape(character);
  }
  return label;
}

/** The id of a label that {@link encodeLabel} made. */
export function decodeLabel(label: string): string {
  if (label === "=") return "";
  return label.replace(/=([0-9A-F]{2})/gu, (_escape, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function escape(character: string): string {
  return `=${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
