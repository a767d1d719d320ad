/** What an API key looks like, and the hash that is kept of it. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** `lily_` and 32 random bytes as base64url. */
const API_KEY = /^lily_[A-Za-z0-9_-]{43}$/u;

/** Form of a kept hash. SHA-256 is enough: a key has 256 random bits, there is nothing to guess or to look up. */
export const KEY_HASH = /^sha256:[0-9a-f]{64}$/u;

/** Makes a key from 32 random bytes. */
export function newApiKey(random: (size: number) => Buffer = randomBytes): string {
  return `lily_${random(32).toString("base64url")}`;
}

/** Whether `text` has the form of a key. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** The hash of a key, as it is kept: `sha256:` and 64 hex digits. */
export function hashApiKey(key: string): string {
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

/** Whether two hashes are equal; takes the same time wherever they differ. */
export function isSameHash(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
