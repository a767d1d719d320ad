/** JSON at the edge: what may be stored, one canonical text of it for hashing, and everything that is said in it. */
import { LilyError } from "./errors.ts";

/**
 * Refuses what JSON would change or drop, naming the path. Keys whose value is `undefined` count as absent.
 *
 * @throws {LilyError} `value_not_json` for dates, maps, bytes, class instances, functions, symbols also as keys, bigints,
 *   NaN, infinities, `-0`, `undefined` and holes in arrays, named entries of arrays, lone surrogates, cycles and nesting
 *   over 100 levels.
 */
export function assertJson(value: unknown, path = "$"): void {
  walk(value, path, [], 0);
}

function walk(value: unknown, path: string, ancestors: readonly object[], depth: number): void {
  const problem = problemOf(value, ancestors, depth);
  if (problem !== undefined) {
    throw new LilyError("value_not_json", `${path} ${problem}, which JSON cannot carry`, {
      next: "Store strings, finite numbers, booleans, null, arrays and plain objects.",
    });
  }
  if (typeof value !== "object" || value === null) return;
  const nested = [...ancestors, value];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(item, `${path}[${index}]`, nested, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (!key.isWellFormed()) walk(key, `${path} key`, nested, depth + 1);
    if (item !== undefined) walk(item, `${path}${stepText(key)}`, nested, depth + 1);
  }
}

/** A key in a path, so that a key with a dot in it is not taken for two. */
function stepText(key: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function problemOf(value: unknown, ancestors: readonly object[], depth: number): string | undefined {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? undefined : "holds half of a surrogate pair";
    case "boolean":
      return undefined;
    case "number":
      if (!Number.isFinite(value)) return `is ${value}`;
      return Object.is(value, -0) ? "is -0" : undefined;
    case "object":
      return value === null ? undefined : objectProblem(value, ancestors, depth);
    default:
      return `is ${typeof value}`;
  }
}

function objectProblem(value: object, ancestors: readonly object[], depth: number): string | undefined {
  if (ancestors.includes(value)) return "contains itself";
  if (depth > 100) return "is nested more than 100 levels deep";
  const prototype: unknown = Object.getPrototypeOf(value);
  const isArray = Array.isArray(value);
  if (isArray ? prototype !== Array.prototype : prototype !== Object.prototype && prototype !== null) {
    const name: unknown = value.constructor?.name;
    return `is a ${typeof name === "string" && name !== "" ? name : "class instance"}`;
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return "has a symbol as a key";
  return isArray && Object.keys(value).length > value.length ? "is an array with named entries" : undefined;
}

/**
 * The canonical text of a JSON value: keys sorted by code unit, no white space, absent for `undefined`.
 * Equal values give equal text, whatever order their keys were written in.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    const sorted: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(item).sort()) sorted[key] = (item as Record<string, unknown>)[key];
    return sorted;
  });
}

/** `text` with each half of a surrogate pair replaced by U+FFFD and each NUL by U+2400, so that every store takes it. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\u2400");
}

/** A JSON value with {@link toStorableText} for each text in it and each key. */
export function toStorableValue(value: unknown): unknown {
  if (typeof value === "string") return toStorableText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toStorableValue);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [toStorableText(key), toStorableValue(item)]),
  );
}

/** The value of a text that may be no JSON; then `undefined`, which a schema refuses as it does any other form. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether `value` is an object with fields of its own, as against a list or null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** The fields that are there: a field that may be absent is never stored or passed on as `undefined`. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<T>;
}

/** Deeper than anything of ours goes. */
const MAX_DEPTH = 50;

/** The strings in `value`, names of fields too, each where it stands; JSON in a string is looked into. */
export function stringsIn(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  if (typeof value === "string") return [value, ...stringsIn(parsedJson(value), depth + 1)];
  if (Array.isArray(value)) return value.flatMap((item) => stringsIn(item, depth + 1));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => [name, ...stringsIn(item, depth + 1)]);
}

/** The value of a text that is JSON of an object, list or string; `undefined` for any other text. */
export function parsedJson(text: string): unknown {
  return /^\s*[[{"]/u.test(text) ? parseJson(text) : undefined;
}
