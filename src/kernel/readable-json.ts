/** Any value as text that a person or a model can read: JSON where it is JSON, words for what JSON cannot carry. */
import { errorMessage } from "./errors.ts";

/** Deeper than this only the kind is told. */
const MAX_DEPTH = 50;

/**
 * The text of `value`: a string as it is, anything else as JSON in which `[Circular]` stands for a part that contains
 * itself, and words stand for dates, maps, bytes, functions and the like. Never throws; `""` for `undefined`.
 */
export function readableJson(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  const readable = toReadable(value, []);
  return typeof readable === "string" ? readable : JSON.stringify(readable);
}

type Ancestors = readonly object[];

function toReadable(value: unknown, ancestors: Ancestors): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "undefined":
      return "[undefined]";
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return String(value);
    case "symbol":
      return String(value);
    case "function":
      return `[function ${value.name}]`;
    case "object":
      return value === null ? null : readableObject(value, ancestors);
  }
}

function readableObject(value: object, ancestors: Ancestors): unknown {
  if (ancestors.includes(value)) return "[Circular]";
  if (ancestors.length >= MAX_DEPTH) return Array.isArray(value) ? "[a list]" : "[an object]";
  const inside = [...ancestors, value];
  try {
    const known = readableBuiltIn(value, inside);
    if (known !== undefined) return known;
    const given = ownJson(value);
    return given === undefined ? readableFields(value, inside) : toReadable(given.json, inside);
  } catch (error) {
    return `[unreadable: ${errorMessage(error)}]`;
  }
}

function readableBuiltIn(value: object, inside: Ancestors): unknown {
  if (Array.isArray(value)) return Array.from(value, (item: unknown) => toReadable(item, inside));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[no date]" : value.toISOString();
  if (value instanceof Map) return toReadable({ Map: [...value] }, inside);
  if (value instanceof Set) return toReadable({ Set: [...value] }, inside);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  return value instanceof RegExp || value instanceof URL ? String(value) : undefined;
}

/** What the value says of itself; a `toJSON` that throws is passed over. */
function ownJson(value: object): { readonly json: unknown } | undefined {
  if (!("toJSON" in value) || typeof value.toJSON !== "function") return undefined;
  try {
    const json: unknown = value.toJSON("");
    return json === value ? undefined : { json };
  } catch {
    // Its fields say more than nothing.
    return undefined;
  }
}

function readableFields(value: object, inside: Ancestors): object {
  const entries = Object.keys(value).flatMap((key): [string, unknown][] => {
    const field = readField(value, key);
    return field === undefined || key === "toJSON" ? [] : [[key, toReadable(field, inside)]];
  });
  return Object.fromEntries(entries);
}

function readField(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key);
  } catch (error) {
    return `[unreadable: ${errorMessage(error)}]`;
  }
}
