/** How execution state becomes text and comes back: JSON, synchronous, in the form of LangGraph's own serializer. */
import { BaseMessage } from "@langchain/core/messages";
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { LilyError } from "#src/kernel/errors.ts";
import { knownText, messageText, reviveMessage } from "./message-record.ts";

/**
 * Reads what LangGraph's `JsonPlusSerializer` wrote, and writes what it reads, but a plain object stays a plain object
 * whatever it looks like, and nothing is called by a name that was stored: only messages, and the few built-in types
 * below, are made again. LangGraph's own awaits every value, which costs a hundred times as much.
 */
export class StateSerde implements SerializerProtocol {
  /** @throws {LilyError} `value_not_json` with the path, for what no reader could bring back */
  dumps(value: unknown): string {
    return textOf(value, { path: [], ancestors: new Set() });
  }

  loads(text: string): unknown {
    return revive(JSON.parse(text));
  }

  async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    if (value instanceof Uint8Array) return ["bytes", value];
    return ["json", new TextEncoder().encode(this.dumps(value))];
  }

  async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    if (type === "bytes") return typeof data === "string" ? new TextEncoder().encode(data) : data;
    if (type !== "json") throw new LilyError("record_invalid", `a checkpoint is of the unknown type ${type}`);
    return this.loads(typeof data === "string" ? data : new TextDecoder().decode(data));
  }
}

/** Where in the value writing has come to. */
interface Place {
  readonly path: (string | number)[];
  readonly ancestors: Set<object>;
}

/** The text of a value, put together from those of its parts: of messages, which are most of a state, it is known. */
function textOf(value: unknown, place: Place): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      if (Number.isFinite(value)) return JSON.stringify(value);
      throw notJson(place, `the number ${value}`);
    case "undefined":
      return `{"lc":2,"type":"undefined"}`;
    case "object":
      return value === null || isJson(value) ? JSON.stringify(value) : textOfObject(value, place);
    default:
      throw notJson(place, `a ${typeof value}`);
  }
}

/** Values of which more would have to be looked at are written part by part; one that is a part of itself has no end. */
const MAX_LOOKED_AT = 2_000;

/** Whether a reader gets of a value what `JSON.stringify` writes, which is many times as fast. */
function isJson(value: unknown, looked = { at: 0 }): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  looked.at += 1;
  if (typeof value !== "object" || looked.at > MAX_LOOKED_AT) return false;
  if (Array.isArray(value)) {
    // By number: a list may have holes.
    for (let index = 0; index < value.length; index += 1) if (!isJson(value[index], looked)) return false;
    return true;
  }
  return isPlain(value) && !("lc" in value) && Object.values(value).every((field) => isJson(field, looked));
}

function textOfObject(value: object, place: Place): string {
  if (place.ancestors.has(value)) throw notJson(place, "a part of what holds it");
  place.ancestors.add(value);
  const text = textByKind(value, place);
  place.ancestors.delete(value);
  return text;
}

function textByKind(value: object, place: Place): string {
  if (Array.isArray(value)) return textOfList(value, place);
  if (isPlain(value)) return textOfPlain(value, place);
  if (BaseMessage.isInstance(value)) return messageText(value, (fields) => textOfFields(fields, place));
  if (value instanceof Map) return builtIn("Map", [textOf([...value], place)]);
  if (value instanceof Set) return builtIn("Set", [textOf([...value], place)]);
  if (value instanceof Uint8Array) return builtIn("Uint8Array", [JSON.stringify([...value])], "from");
  if (value instanceof RegExp)
    return builtIn("RegExp", [JSON.stringify(value.source), JSON.stringify(value.flags)]);
  if (value instanceof Error) return builtIn("Error", [JSON.stringify(value.message)]);
  if ("toJSON" in value && typeof value.toJSON === "function") return textOf(value.toJSON(), place);
  return textOfPlain(value, place);
}

/** Whether it is none of the kinds that are asked for one by one. */
const isPlain = (value: object): boolean =>
  Object.getPrototypeOf(value) === Object.prototype && !("toJSON" in value);

function textOfPlain(value: object, place: Place): string {
  const fields = textOfFields(value, place);
  return looksSerialized(value) ? `{"lc":2,"type":"plain","value":${fields}}` : fields;
}

function textOfList(value: readonly unknown[], place: Place): string {
  // A list may have holes, which `map` would pass over.
  return `[${Array.from(value, (item, index) => knownText(item) ?? textAt(index, item, place)).join(",")}]`;
}

function textOfFields(value: object, place: Place): string {
  const fields = Object.entries(value).map(
    ([key, field]) => `${JSON.stringify(key)}:${textAt(key, field, place)}`,
  );
  return `{${fields.join(",")}}`;
}

function textAt(key: string | number, value: unknown, place: Place): string {
  place.path.push(key);
  const text = textOf(value, place);
  place.path.pop();
  return text;
}

const builtIn = (name: string, args: readonly string[], method: string | null = null): string =>
  `{"lc":2,"type":"constructor","id":["${name}"],"method":${JSON.stringify(method)},"args":[${args.join(",")}],"kwargs":{}}`;

/** Whether a reader would take the plain object for one that stands for something else. */
function looksSerialized(value: object): boolean {
  return "lc" in value && (value.lc === 1 || value.lc === 2);
}

function notJson({ path }: Place, what: string): LilyError {
  const where = path.length === 0 ? "the state" : `the state at ${path.join(".")}`;
  return new LilyError("value_not_json", `${where} is ${what}, which cannot be stored`, {
    next: "Store text, finite numbers, booleans, null, lists and plain objects. Nothing was stored.",
  });
}

/** Makes the values again, from the innermost outwards, in place. */
function revive(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = revive(item);
    return value;
  }
  const record = value as Record<string, unknown>;
  if (record["lc"] === 2 && record["type"] === "plain") return reviveFields(record["value"]);
  reviveFields(record);
  if (record["lc"] === 1 && record["type"] === "constructor") return reviveMessage(record) ?? record;
  return record["lc"] === 2 ? reviveBuiltIn(record) : record;
}

function reviveFields(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) fields[key] = revive(fields[key]);
  return fields;
}

function reviveBuiltIn(record: Record<string, unknown>): unknown {
  if (record["type"] === "undefined") return undefined;
  if (record["type"] !== "constructor" || !Array.isArray(record["id"]) || !Array.isArray(record["args"]))
    return record;
  const [first, second]: unknown[] = record["args"];
  switch (record["id"].join("/")) {
    case "Map":
      return isEntries(first) ? new Map(first) : record;
    case "Set":
      return Array.isArray(first) ? new Set(first) : record;
    case "Uint8Array":
      return Array.isArray(first) ? Uint8Array.from(first as number[]) : record;
    case "RegExp":
      return expressionOf(first, second) ?? record;
    case "Error":
      return typeof first === "string" ? new Error(first) : record;
    default:
      return record;
  }
}

function expressionOf(source: unknown, flags: unknown): RegExp | undefined {
  try {
    return typeof source === "string" && typeof flags === "string" ? new RegExp(source, flags) : undefined;
  } catch {
    // Not one of ours; it stays the record that it is.
    return undefined;
  }
}

function isEntries(value: unknown): value is [unknown, unknown][] {
  return Array.isArray(value) && value.every((entry) => Array.isArray(entry) && entry.length === 2);
}
