/** Everything that is said in a stored record, string by string, so that it can be searched. Pure. */
import { parsedJson } from "#src/kernel/json.ts";

/** Names of a record whose values the program makes, or keeps when a turn is erased: ids, hashes, words of its own. */
const NOT_SAID: ReadonlySet<string> = new Set([
  "action",
  "code",
  "deliveryId",
  "head",
  "kind",
  "leaf",
  "reason",
  "requestId",
  "role",
  "salt",
  "sessionId",
  "status",
  "textHash",
  "trigger",
]);

/** An instant is no text: a year that was said must not be found in the time of every turn. */
const INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?$/u;

/** JSON in JSON, as tools are called with and answer; deeper than this it is read as it stands. */
const MAX_NESTED = 4;

/**
 * The strings of a record. Where others decide on the form (the data of an envelope, JSON texts, which are read without
 * their escapes), names and numbers say something, too; in the record itself they do not.
 */
export function stringsOf(record: unknown): string[] {
  const strings: string[] = [];
  collect(record, strings, { isFree: false, nested: 0 });
  return strings;
}

interface Place {
  readonly isFree: boolean;
  readonly nested: number;
}

function collect(value: unknown, into: string[], place: Place): void {
  if (typeof value === "string") return collectText(value, into, place);
  if (typeof value === "number" && place.isFree) return void into.push(String(value));
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (!place.isFree && NOT_SAID.has(name)) continue;
    if (place.isFree && !Array.isArray(value)) into.push(name);
    collect(item, into, { ...place, isFree: place.isFree || name === "data" });
  }
}

function collectText(text: string, into: string[], { nested }: Place): void {
  if (INSTANT.test(text)) return;
  into.push(text);
  if (nested < MAX_NESTED) collect(parsedJson(text), into, { isFree: true, nested: nested + 1 });
}
