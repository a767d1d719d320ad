/** Everything that is said in a JSON value: its strings, and those in strings that are JSON themselves. */

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
  if (!/^\s*[[{"]/u.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // A text that only begins like JSON has been looked at as text.
    return undefined;
  }
}
