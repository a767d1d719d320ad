/** Knowledge units as text, a field a line: `@k1 ku atomic "id"`, `@k2 set $k1 claim "…"`. Reading what was written gives the same. Pure. */
import { z } from "zod";
import { parseJson } from "#src/kernel/json.ts";
import { knowledgeUnitSchema, type KnowledgeUnit, type WholeUnit } from "./knowledge-units.ts";

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
  readonly unit: Partial<Record<keyof KnowledgeUnit, unknown>>;
  isBroken: boolean;
}

/** Longest line, in UTF-16 code units. */
const MAX_LINE = 4_000;
const LINE = /^@(?<label>\S+)\s+(?:ku\s+atomic|set\s+\$(?<of>\S+)\s+(?<field>\S+))\s+(?<value>.+)$/su;

/** Reads units. Blank lines and lines that begin with `#` say nothing. */
export function parseUnits(text: string): { units: ReadUnit[]; problems: UnitTextProblem[] } {
  const drafts = new Map<string, Draft>();
  const problems: UnitTextProblem[] = [];
  const labels = new Set<string>();
  for (const [index, written] of text.split(/\r?\n/u).entries()) {
    const content = written.trim();
    if (content === "" || content.startsWith("#")) continue;
    const line = index + 1;
    const { label = "", of, field = "id", value = "" } = LINE.exec(content)?.groups ?? {};
    const draft = of === undefined ? { line, unit: { topic: "" }, isBroken: false } : drafts.get(of);
    const problem =
      label === "" || content.length > MAX_LINE
        ? "this is no line of a knowledge unit"
        : labels.has(label)
          ? `@${label} is named twice`
          : draft === undefined
            ? `$${of} names no unit above it`
            : setField(draft, field, valuesOf(value));
    labels.add(label);
    if (draft !== undefined && problem !== undefined) draft.isBroken = true;
    if (draft !== undefined && of === undefined && problem === undefined) drafts.set(label, draft);
    if (problem !== undefined) problems.push({ line, problem });
  }
  const units = [...drafts.values()].flatMap(({ line, unit, isBroken }): ReadUnit[] => {
    const read = readSchema.safeParse(unit);
    if (read.success && !isBroken) return [{ line, unit: read.data }];
    if (!isBroken) problems.push({ line, problem: "the unit has no role, or no claim" });
    return [];
  });
  return { units, problems: problems.toSorted((one, other) => one.line - other.line) };
}

const readSchema = knowledgeUnitSchema.required({ id: true });

/** Fields by their names in the text. */
const NAMES: ReadonlyMap<string, keyof KnowledgeUnit> = new Map([
  ...knowledgeUnitSchema.keyof().options.map((name) => [name, name] as const),
  ["chunkId", "chunkIds"],
]);

/** Sets a field; gives what is wrong with it. */
function setField(
  { unit }: Draft,
  field: string,
  values: string | readonly string[] | undefined,
): string | undefined {
  const name = NAMES.get(field);
  if (values === undefined) return "its value cannot be read";
  if (name === undefined) return `there is no field ${field}`;
  if (unit[name] !== undefined && unit[name] !== "") return `${field} is set twice`;
  const value = name === "chunkIds" && typeof values === "string" ? [values] : values;
  const parsed = knowledgeUnitSchema.shape[name].safeParse(value);
  unit[name] = value;
  return parsed.success ? undefined : `${field}: ${parsed.error.issues[0]?.message}`;
}

const VALUE = /\s*("(?:[^"\\]|\\.)*"|[^\s"[\]]+)/uy;

/** One value, or those of a list. */
function valuesOf(text: string): string | string[] | undefined {
  const list = /^\[(.*)\]$/su.exec(text)?.[1];
  const inner = (list ?? text).trimEnd();
  const values: string[] = [];
  VALUE.lastIndex = 0;
  while (VALUE.lastIndex < inner.length) {
    const [, found] = VALUE.exec(inner) ?? [];
    const value = found?.startsWith('"') === true ? z.string().safeParse(parseJson(found)).data : found;
    if (value === undefined) return undefined;
    values.push(value);
  }
  if (list !== undefined) return values;
  return values.length === 1 ? values[0] : undefined;
}
