/**
 * Knowledge units of a conversation: what its turns said that may be used again. Each stands in the record of its turn, and
 * what a session holds is a fold over those, bounded. Pure.
 */
import { z } from "zod";
import { termsOf } from "#src/kernel/words.ts";

/** What a unit is. `Statement`: a sentence of the user as it stands, of which nobody said what it is. */
const UNIT_ROLES = ["Fact", "Constraint", "Definition", "Guidance", "Statement"] as const;

/** The parts of a turn that may use a unit. */
export const UNIT_PHASES = ["planner-plugin", "sd-plugin", "kb-plugin", "gs-plugin"] as const;

export type UnitPhase = (typeof UNIT_PHASES)[number];

/** What is left out has a default, for a session carries its units with each turn. */
export const knowledgeUnitSchema = z.strictObject({
  role: z.enum(UNIT_ROLES),
  /** `""` for none. */
  topic: z.string(),
  claim: z.string().regex(/\S/u, "says nothing"),
  /** What it is good for, e.g. `verify`; absent: nothing in particular. */
  utilityActs: z.array(z.string()).optional(),
  /** Absent: all. */
  phaseScopes: z.array(z.enum(UNIT_PHASES)).optional(),
  /** Of one that came in from elsewhere; absent: made of its turn. */
  id: z.string().optional(),
  sourceId: z.string().optional(),
  chunkIds: z.array(z.string()).optional(),
});

/** A fact, constraint, definition or guidance taken from a session's turns. */
export type KnowledgeUnit = z.infer<typeof knowledgeUnitSchema>;

/** Schema of {@link StoredUnit}. */
export const storedUnitSchema = z.union([
  knowledgeUnitSchema,
  /** Where the sentence begins and ends in the turn's first message, in UTF-16 code units: its words stand there already. */
  z.strictObject({ said: z.tuple([z.int().min(0), z.int().min(1)]) }),
]);

/** A unit as the record of its turn keeps it. */
export type StoredUnit = z.infer<typeof storedUnitSchema>;

/** Units for a record whose first message is `text`: of what stands in that, the place alone. */
export function storeUnits(units: readonly KnowledgeUnit[], text: string): StoredUnit[] {
  return units.map((unit) => {
    const { role, topic, claim, ...rest } = unit;
    const from = role === "Statement" && topic === "" ? text.indexOf(claim) : -1;
    return from < 0 || Object.keys(rest).length > 0 ? unit : { said: [from, from + claim.length] };
  });
}

/** The units of a turn, with their words. */
export function unitsIn({ units = [], messages: [said] = [] }: Omit<UnitTurn, "turn">): KnowledgeUnit[] {
  return units.map((unit) =>
    "said" in unit ? { role: "Statement", topic: "", claim: said?.content.slice(...unit.said) ?? "" } : unit,
  );
}

/** Schema of {@link UnitPlace}. */
export const unitPlaceSchema = z.strictObject({
  /** Where it is another one, which this one continues. */
  sessionId: z.string().optional(),
  turn: z.int().min(1),
  /** Its number among the units of that turn, from 1. */
  n: z.int().min(1),
});

/** Where a unit was taken from; says nothing of it. */
export type UnitPlace = z.infer<typeof unitPlaceSchema>;

/** Schema of {@link HeldUnit}. */
export const heldUnitSchema = knowledgeUnitSchema.extend(unitPlaceSchema.shape);

/** A unit with its place. */
export type HeldUnit = z.infer<typeof heldUnitSchema>;

/** A unit with every field of its own. */
export type WholeUnit = { [Field in keyof KnowledgeUnit]-?: NonNullable<KnowledgeUnit[Field]> };

/** All of a unit; what it does not say of itself is made of its place, in `session` where that says none. */
export function wholeUnit(unit: HeldUnit, session: string): WholeUnit {
  const { role, topic, claim, utilityActs = [], phaseScopes = [...UNIT_PHASES], turn, n } = unit;
  const chunk = `${unit.sessionId ?? session}::${turn}`;
  return {
    id: unit.id ?? `${chunk}::unit-${String(n - 1).padStart(3, "0")}`,
    sourceId: unit.sourceId ?? "session",
    chunkIds: unit.chunkIds ?? [chunk],
    role,
    topic,
    claim,
    utilityActs,
    phaseScopes,
  };
}

/** Whether a part of a turn may use the unit. */
export function isInPhase({ phaseScopes }: Pick<KnowledgeUnit, "phaseScopes">, phase: UnitPhase): boolean {
  return phaseScopes === undefined || phaseScopes.includes(phase);
}

/** Claims that a plugin of a phase is told, at most. */
const MOST_TOLD = 20;

/** The newest claims that a phase may use. */
export function claimsFor(phase: UnitPhase, units: readonly HeldUnit[] = []): string[] {
  const usable = units.filter((unit) => isInPhase(unit, phase));
  return usable.slice(-MOST_TOLD).map(({ claim }) => claim);
}

/** Whether two places are the same one, in one session. */
export function isSamePlace(one: UnitPlace, other: UnitPlace): boolean {
  return one.turn === other.turn && one.n === other.n && one.sessionId === other.sessionId;
}

/** Equal for the same claim: case, width, white space and the end mark do not count. */
export function claimKey(claim: string): string {
  const line = claim.normalize("NFKC").toLowerCase().replaceAll(/\s+/gu, " ").trim();
  return line.replace(/\s*[.!。…]+$/u, "") || line;
}

/** The units whose claim has all the words of a text. */
export function unitsSaying(units: readonly HeldUnit[] | undefined, text: string): HeldUnit[] {
  const asked = termsOf(text);
  if (asked.length === 0) return [];
  return (units ?? []).filter(({ claim, topic }) => {
    const terms = new Set(termsOf(`${topic} ${claim}`));
    return asked.every((term) => terms.has(term));
  });
}

/** The place of a unit alone. */
export function placeOf({ sessionId, turn, n }: UnitPlace): UnitPlace {
  return { ...(sessionId === undefined ? {} : { sessionId }), turn, n };
}

/** Most units of a session, and most characters that they take with all that is stored of them. */
export const MOST_UNITS = 60;
export const MOST_UNIT_CHARACTERS = 6_000;

/** What a unit takes of them. */
export const sizeOf = (unit: HeldUnit): number => JSON.stringify(unit).length;

/** What a turn does to units: a committed one, or the mark of one that was erased. */
interface UnitTurn {
  readonly turn: number;
  readonly units?: readonly StoredUnit[] | undefined;
  readonly messages?: readonly { readonly content: string }[];
  readonly changes?:
    | { readonly contextFrom?: number | undefined; readonly unitsDropped?: UnitPlace[] | undefined }
    | undefined;
}

/** The units after a turn; `undefined` without any. What is cleared in place takes its units along. */
export function unitsAfter(held: readonly HeldUnit[] | undefined, stored: UnitTurn): HeldUnit[] | undefined {
  const { turn, changes: { contextFrom, unitsDropped = [] } = {} } = stored;
  const before = contextFrom === undefined ? (held ?? []) : [];
  const kept = before.filter((unit) => !unitsDropped.some((place) => isSamePlace(unit, place)));
  return bounded([...kept, ...unitsIn(stored).map((unit, index) => ({ ...unit, turn, n: index + 1 }))]);
}

/** The units with which a session begins that continues others: theirs, oldest first. */
export function joinUnits(
  parts: readonly { readonly sessionId: string; readonly units: readonly HeldUnit[] | undefined }[],
): HeldUnit[] | undefined {
  return bounded(parts.flatMap(({ sessionId, units = [] }) => units.map((unit) => ({ sessionId, ...unit }))));
}

/** One for the same claim, the first; and no more than there is room for. */
function bounded(units: readonly HeldUnit[]): HeldUnit[] | undefined {
  const byClaim = new Map<string, HeldUnit>();
  for (const unit of units) {
    const key = claimKey(unit.claim);
    if (!byClaim.has(key)) byClaim.set(key, unit);
  }
  const held = [...byClaim.values()];
  let characters = held.reduce((sum, unit) => sum + sizeOf(unit), 0);
  while (held.length > MOST_UNITS || characters > MOST_UNIT_CHARACTERS) {
    const [gone] = held.splice(nextToGo(held), 1);
    characters -= gone === undefined ? 0 : sizeOf(gone);
  }
  return held.length === 0 ? undefined : held;
}

/** First sentences without a number, then other sentences, then all else; of each kind the oldest. */
function nextToGo(held: readonly HeldUnit[]): number {
  const plain = held.findIndex(({ role, claim }) => role === "Statement" && !/\p{N}/u.test(claim));
  if (plain >= 0) return plain;
  return Math.max(
    0,
    held.findIndex(({ role }) => role === "Statement"),
  );
}
