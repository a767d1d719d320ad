/** Changes that a command makes to its session: stored with its turn, so that they hold once the turn is committed. */
import { z } from "zod";
import { foldLedger, ledgerChangeSchema, type Ledger } from "./ledger.ts";
import { rolloverOverridesSchema } from "./rollover-policy.ts";
import type { SessionFields } from "./session-fields.ts";

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
  /** What it noted in the ledger, or closed there. */
  ledger: z.array(ledgerChangeSchema).optional(),
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
  const { rollover: before, controlModel: chosen, task: taskBefore, ledger: noted, ...fields } = session;
  const rollover = changes.rollover === undefined ? before : (changes.rollover ?? undefined);
  const controlModel = changes.controlModel === undefined ? chosen : (changes.controlModel ?? undefined);
  const task = changes.task === undefined ? taskBefore : (changes.task ?? undefined);
  const ledger = ledgerAfter(noted, changes, turn);
  const { model } = changes;
  return {
    ...fields,
    ...(rollover === undefined ? {} : { rollover }),
    ...(controlModel === undefined ? {} : { controlModel }),
    ...(task === undefined ? {} : { task }),
    ...(ledger === undefined ? {} : { ledger }),
    ...(changes.contextFrom === undefined ? {} : { contextFrom: changes.contextFrom }),
    ...(changes.title === undefined ? {} : { title: changes.title }),
    modelConfig:
      model === undefined ? session.modelConfig : { ...session.modelConfig, model, chosen: model !== null },
  };
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
