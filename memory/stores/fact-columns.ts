/** What of a fact a database keeps beside its value, so that it is found and counted without its value being read. */

/** The columns of a fact, as text; JSON for the group. */
export interface FactColumns {
  readonly newness: string;
  /** JSON; null where the value has none. */
  readonly conflictGroup: string | null;
  /** As `FactStateRow` has it. */
  readonly state: string | null;
}

/** Longer is no instant, and an entry of an index has to fit on its page. */
const MAX_CHARACTERS = 100;

/** How JSON writes a NUL. PostgreSQL cannot look into a value with one: a single such fact would fail every search. */
const NUL = "\\u0000";

/** The columns of an item that is indexed by `fields`; `undefined` for what is no fact. */
export function factColumns(key: string, json: string, fields: readonly string[]): FactColumns | undefined {
  if (fields.length !== 1 || fields[0] !== "text" || json.includes(NUL)) return undefined;
  const value = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const group = Object.hasOwn(value, "conflict_group") ? value["conflict_group"] : undefined;
  return {
    newness: textOf(value["updated_at"]) ?? "",
    conflictGroup: group === undefined ? null : JSON.stringify(group),
    state: stateOf(key, value),
  };
}

function stateOf(key: string, value: Readonly<Record<string, unknown>>): string | null {
  if (value["id"] !== key || value["schema_version"] !== 1) return "unreadable";
  if (value["superseded_by"] !== null) return "superseded";
  return value["archived"] === false ? textOf(value["expires_at"]) : "archived";
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, MAX_CHARACTERS).replaceAll("\u0000", " ") : null;
}
