/** Made-up values of the shapes that services give out, from a seeded source: the same on every machine. */
import { createHash } from "node:crypto";

/** Numbers from 0 to 1. */
export type Random = () => number;

/** Numbers that follow from a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";

/** Alphabets of generated values. */
export const ALPHABETS = {
  digits: DIGITS,
  hex: `${DIGITS}abcdef`,
  base32: `${UPPER}234567`,
  upper: `${UPPER}${DIGITS}`,
  alnum: `${LOWER}${UPPER}${DIGITS}`,
  base64: `${LOWER}${UPPER}${DIGITS}+/`,
  url: `${LOWER}${UPPER}${DIGITS}-_`,
} as const;

/** `length` characters of an alphabet. */
export function run(random: Random, alphabet: keyof typeof ALPHABETS, length: number): string {
  const letters = ALPHABETS[alphabet];
  return Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join("");
}

/** One of several. */
export function pick<T>(random: Random, [first, ...rest]: readonly [T, ...T[]]): T {
  return [first, ...rest][Math.floor(random() * (rest.length + 1))] ?? first;
}

/** A payment card number of `length` digits that begins with `prefix`, with Luhn's check digit. */
export function card(random: Random, prefix: string, length: number): string {
  const body = prefix + run(random, "digits", length - prefix.length - 1);
  const sum = Array.from(body)
    .toReversed()
    .reduce((total, digit, index) => {
      const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

/** `text` in groups of `size`, or of these sizes. */
export function grouped(text: string, sizes: readonly number[], separator = " "): string {
  const groups: string[] = [];
  for (let at = 0, index = 0; at < text.length; index += 1) {
    const size = sizes[Math.min(index, sizes.length - 1)] ?? 4;
    groups.push(text.slice(at, at + size));
    at += size;
  }
  return groups.join(separator);
}

/** An IBAN of a country with this account part, with its check digits (ISO 13616). */
export function iban(country: string, account: string): string {
  const digits = Array.from(`${account}${country}00`, (one) => String(parseInt(one, 36))).join("");
  const check = 98n - (BigInt(digits) % 97n);
  return `${country}${String(check).padStart(2, "0")}${account}`;
}

/** Base64 of a text. */
export const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A signed token. */
export function jwt(random: Random): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: run(random, "digits", 8), admin: true })}.${run(random, "url", 43)}`;
}

/** The body of a key in lines. */
export const keyBody = (random: Random, lines = 4): string =>
  Array.from({ length: lines }, () => run(random, "base64", 64)).join("\n");

/** A hash of a text, as tools print it. */
export const digest = (algorithm: "sha1" | "sha256" | "md5", text: string): string =>
  createHash(algorithm).update(text).digest("hex");
