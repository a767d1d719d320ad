/** Changes that a command makes to its session: stored with its turn, so that they hold once the turn is committed. */
import { z } from "zod";
import { defined } from "#src/kernel/json.ts";
import { pluginNameSchema, SLOTS, type PluginChoices } from "./plugin-choices.ts";
import { foldLedger, ledgerChangeSchema, type Ledger } from "./ledger.ts";
import { unitPlaceSchema } from "./knowledge-units.ts";
import { rolloverOverridesSchema } from "./rollover-policy.ts";
import {
  compactedToSchema,
  personaSchema,
  reasoningSchema,
  skillSnapshotSchema,
  toolSnapshotSchema,
  verbositySchema,
  type SessionFields,
} from "./session-fields.ts";

/** Schema of {@link SessionChanges}. */
export const sessionChangesSchema = z.strictObject({
  title: z.string().optional(),
  /** A model reference, or `null` for the configured default. */
  model: z.string().nullable().optional(),
  /** `null` for the configured rules. */
  rollover: rolloverOverridesSchema.nullable().optional(),
  /** A model reference or `built-in`, or `null` for the configured one. */
  controlModel: z.string().nullable().optional(),
  /** First turn that a model is given from now on. */
  contextFrom: z.int().optional(),
  /** The task whose memory is read beside that of the person, or `null` for none. */
  task: z.string().nullable().optional(),
  /** The user's wishes about style, how long its model thinks, how long answers are; `null` for none. */
  style: z.string().nullable().optional(),
  reasoning: reasoningSchema.nullable().optional(),
  verbosity: verbositySchema.nullable().optional(),
  /** The agent that answers from now on; `persona` is its own. */
  agent: z.string().optional(),
  /** Files as they were read anew; `null` where there are none any more. */
  persona: personaSchema.nullable().optional(),
  skillSnapshot: skillSnapshotSchema.optional(),
  /** Tools as their sources told of them anew. */
  toolSnapshot: toolSnapshotSchema.optional(),
  /** Plugins that were chosen, by slot; `null` goes by the configuration again, for the key as well. */
  plugins: z.partialRecord(z.enum(SLOTS), pluginNameSchema.nullable()).optional(),
  /** Knowledge bases that are mounted from now on; `null` for the default one alone. */
  kbs: z.array(z.string()).nullable().optional(),
  /** What is told in a summary from now on. */
  compacted: compactedToSchema.optional(),
  /** Tools that run without a question from now on. */
  approved: z.array(z.string()).optional(),
  /** Tools that a person is asked about again, as others of their names were taken over. */
  unapproved: z.array(z.string()).optional(),
  /** What it noted in the ledger, or closed there. */
  ledger: z.array(ledgerChangeSchema).optional(),
  /** Knowledge units that are not used any more. */
  unitsDropped: z.array(unitPlaceSchema).optional(),
});

/** Changes to a session. */
export type SessionChanges = z.infer<typeof sessionChangesSchema>;

/** The fields after the changes that `turn` made. */
export function applyChanges(
  session: SessionFields,
  changes: SessionChanges | undefined,
  turn: number,
): SessionFields {
  if (changes === undefined) return session;
  return defined({
    ...changed(session, changes, [
      "title",
      "rollover",
      "controlModel",
      "contextFrom",
      "task",
      "style",
      "persona",
      "skillSnapshot",
      "toolSnapshot",
      "kbs",
    ]),
    ...pluginsAfter(session, changes.plugins),
    activeAgent: changes.agent ?? session.activeAgent,
    approvedTools: approvedAfter(session.approvedTools, changes),
    ledger: ledgerAfter(session.ledger, changes, turn),
    compacted: changes.compacted ?? (changes.contextFrom === undefined ? session.compacted : undefined),
    modelConfig: modelAfter(session.modelConfig, changes),
  });
}

function approvedAfter(
  before: readonly string[] | undefined,
  { approved, unapproved = [] }: Pick<SessionChanges, "approved" | "unapproved">,
): string[] | undefined {
  if (before === undefined && approved === undefined) return undefined;
  return [...new Set([...(before ?? []), ...(approved ?? [])])].filter((name) => !unapproved.includes(name));
}

function pluginsAfter(
  { plugins, keyPlugins }: Pick<SessionFields, "plugins" | "keyPlugins">,
  changes: SessionChanges["plugins"] = {},
): Pick<SessionFields, "plugins" | "keyPlugins"> {
  const dropped: readonly string[] = SLOTS.filter((slot) => changes[slot] === null);
  const kept = (choices: SessionChanges["plugins"] = {}): PluginChoices | undefined => {
    const named = Object.entries(choices).flatMap(([slot, name]) =>
      name === null || dropped.includes(slot) ? [] : [[slot, name] as const],
    );
    return named.length === 0 ? undefined : Object.fromEntries(named);
  };
  return { plugins: kept({ ...plugins, ...changes }), keyPlugins: kept(keyPlugins) };
}

function modelAfter(
  before: SessionFields["modelConfig"],
  changes: SessionChanges,
): SessionFields["modelConfig"] {
  const { model } = changes;
  const after = changed(before, changes, ["reasoning", "verbosity"]);
  return model === undefined ? after : { ...after, model, chosen: model !== null };
}

/** `before` with what `changes` says of `names`: `undefined` leaves a field as it is, `null` takes it away. */
function changed<T extends object>(
  before: T,
  changes: SessionChanges,
  names: readonly (keyof T & keyof SessionChanges)[],
): T {
  const after = { ...before };
  for (const name of names) {
    const value = changes[name];
    if (value === null) delete after[name];
    else if (value !== undefined) after[name] = value as T[typeof name];
  }
  return after;
}

/** The ledger after the changes of a turn; what is cleared in place takes its ledger along. */
export function ledgerAfter(
  ledger: Ledger | undefined,
  { contextFrom, ledger: changes }: Pick<SessionChanges, "contextFrom" | "ledger"> = {},
  turn: number,
): Ledger | undefined {
  const before = contextFrom === undefined ? ledger : undefined;
  return changes === undefined ? before : foldLedger(before, changes, turn);
}
