/** Knowledge units as text, a field a line: `@k1 ku atomic "id"`, `@k2 set $k1 claim "…"`. Reading what was written gives the same. Pure. */
import { UNIT_PHASES, UNIT_ROLES, type KnowledgeUnit, type WholeUnit } from "./knowledge-units.ts";

/** The text of units. */
export function printUnits(units: readonly WholeUnit[]): string {
  let count = 0;
  const blocks = units.map((unit) => {
    count += 1;
    const of = count;
    const fields = [
      ["sourceId", valueText(unit.sourceId)],
      ["chunkId", unit.chunkIds.length === 1 ? valueText(unit.chunkIds[0] ?? "") : listText(unit.chunkIds)],
      ["role", unit.role],
      ["topic", JSON.stringify(unit.topic)],
      ["claim", JSON.stringify(unit.claim)],
      ["utilityActs", listText(unit.utilityActs)],
      ["phaseScopes", listText(unit.phaseScopes)],
    ];
    const lines = fields.map(([field, value]) => `@k${(count += 1)} set $k${of} ${field} ${value}`);
    return [`@k${of} ku atomic ${JSON.stringify(unit.id)}`, ...lines].join("\n");
  });
  return blocks.length === 0 ? "" : `${blocks.join("\n\n")}\n`;
}

const BARE = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/-]*$/u;

const valueText = (value: string): string => (BARE.test(value) ? value : JSON.stringify(value));

const listText = (values: readonly string[]): string => `[${values.map(valueText).join(" ")}]`;

/** A unit that was read, and the line on which it begins. */
export interface ReadUnit {
  readonly unit: KnowledgeUnit & { readonly id: string };
  readonly line: number;
}

/** A line that is not as it should be; its unit is left out. */
export interface UnitTextProblem {
  readonly line: number;
  readonly problem: string;
}

/** A unit in the making. */
interface Draft {
  readonly line: number;
  readonly id: string;
  readonly fields: Map<Field, readonly string[]>;
  isBroken: boolean;
}

const FIELDS = ["sourceId", "chunkId", "role", "topic", "claim", "utilityActs", "phaseScopes"] as const;
type Field = (typeof FIELDS)[number];
const LISTS: readonly Field[] = ["chunkId", "utilityActs", "phaseScopes"];

/** Longest line, in UTF-16 code units. */
const MAX_LINE = 4_000;
const LINE = /^@(?<label>\S+)\s+(?:ku\s+atomic|set\s+\$(?<of>\S+)\s+(?<field>\S+))\s+(?<value>.+)$/su;

/** Reads units. Blank lines and lines that begin with `#` say nothing. */
export function parseUnits(text: string): { units: ReadUnit[]; problems: UnitTextProblem[] } {
  const drafts = new Map<string, Draft>();
  const labels = new Set<string>();
  const problems: UnitTextProblem[] = [];
  for (const [index, written] of text.split(/\r?\n/u).entries()) {
    const content = written.trim();
    if (content === "" || content.startsWith("#")) continue;
    const problem = readLine(content, { line: index + 1, drafts, labels });
    if (problem !== undefined) problems.push({ line: index + 1, problem });
  }
  const units = [...drafts.values()].flatMap((draft): ReadUnit[] => {
    if (draft.isBroken) return [];
    const unit = unitOf(draft);
    if (typeof unit !== "string") return [{ unit, line: draft.line }];
    problems.push({ line: draft.line, problem: unit });
    return [];
  });
  return { units, problems: problems.toSorted((a, b) => a.line - b.line) };
}

interface Reading {
  readonly line: number;
  /** By the labels under which they are named. */
  readonly drafts: Map<string, Draft>;
  readonly labels: Set<string>;
}

/** Reads one line; gives what is wrong with it. */
function readLine(content: string, { line, drafts, labels }: Reading): string | undefined {
  const { label = "", of, field, value = "" } = LINE.exec(content)?.groups ?? {};
  const draft = of === undefined ? undefined : drafts.get(of);
  const problem = ((): string | undefined => {
    if (label === "" || content.length > MAX_LINE) return "this is no line of a knowledge unit";
    if (labels.has(label)) return `@${label} is named twice`;
    labels.add(label);
    const values = valuesOf(value);
    if (values === undefined) return "its value cannot be read";
    if (of === undefined) {
      const [id = ""] = values;
      if (values.length !== 1 || value.startsWith("[")) return "a unit has one id";
      drafts.set(label, { line, id, fields: new Map(), isBroken: false });
      return undefined;
    }
    if (draft === undefined) return `$${of} names no unit above it`;
    return setField(draft, field ?? "", { values, isList: value.startsWith("[") });
  })();
  if (problem !== undefined && draft !== undefined) draft.isBroken = true;
  return problem;
}

function setField(
  { fields }: Draft,
  name: string,
  { values, isList }: { readonly values: readonly string[]; readonly isList: boolean },
): string | undefined {
  const field = FIELDS.find((one) => one === name);
  if (field === undefined) return `there is no field ${name}`;
  if (fields.has(field)) return `${field} is set twice`;
  if (isList && !LISTS.includes(field)) return `${field} is one value, no list`;
  const known: readonly string[] | undefined =
    field === "role" ? UNIT_ROLES : field === "phaseScopes" ? UNIT_PHASES : undefined;
  const other = values.find((value) => known?.includes(value) === false);
  if (other !== undefined) return `${field} is of ${known?.join(", ")}`;
  fields.set(field, values);
  return undefined;
}

/** The unit, or what it lacks. */
function unitOf({ id, fields }: Draft): ReadUnit["unit"] | string {
  const [role] = fields.get("role") ?? [];
  const [claim = ""] = fields.get("claim") ?? [];
  const [topic = ""] = fields.get("topic") ?? [];
  const [sourceId] = fields.get("sourceId") ?? [];
  const known = UNIT_ROLES.find((one) => one === role);
  if (known === undefined) return "the unit has no role";
  if (claim.trim() === "") return "the unit has no claim";
  const list = (field: Field): string[] | undefined => fields.get(field)?.slice();
  const scopes = (fields.get("phaseScopes") ?? []).flatMap(
    (scope) => UNIT_PHASES.find((phase) => phase === scope) ?? [],
  );
  const [utilityActs, chunkIds] = [list("utilityActs"), list("chunkId")];
  return {
    id,
    role: known,
    topic,
    claim,
    ...(sourceId === undefined ? {} : { sourceId }),
    ...(chunkIds === undefined ? {} : { chunkIds }),
    ...(utilityActs === undefined ? {} : { utilityActs }),
    ...(fields.has("phaseScopes") ? { phaseScopes: scopes } : {}),
  };
}

const VALUE = /\s*("(?:[^"\\]|\\.)*"|[^\s"[\]]+)/uy;

/** One value, or those of a list. */
function valuesOf(text: string): string[] | undefined {
  const list = /^\[(.*)\]$/su.exec(text)?.[1];
  const inner = (list ?? text).trimEnd();
  const values: string[] = [];
  VALUE.lastIndex = 0;
  while (VALUE.lastIndex < inner.length) {
    const [, found] = VALUE.exec(inner) ?? [];
    const value = found?.startsWith('"') === true ? unquoted(found) : found;
    if (value === undefined) return undefined;
    values.push(value);
  }
  return list === undefined && values.length !== 1 ? undefined : values;
}

function unquoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
