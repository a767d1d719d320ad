/** A session as the MRP document describes one: its state and, under that document's names, what it is set up with and holds. */
import { z } from "zod";
import { replyText } from "#src/kernel/envelope.ts";
import { sliceWhole } from "#src/kernel/text.ts";
import type { ChainEntry } from "#src/sessions/chain.ts";
import { ROLES } from "#src/sessions/message.ts";
import type { Slot, UsedPlugin, UsedPlugins } from "#src/sessions/plugin-choices.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { answerOf } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { DEFAULT_KB } from "#memory/namespaces.ts";
import { traceOf, type TraceOptions } from "./derive-trace.ts";
import { traceSchema } from "./trace.ts";

/** Schema of {@link SessionDocument}. */
export const sessionDocumentSchema = z.strictObject({
  sessionId: z.string(),
  /** `created`: nothing was said yet; `active`; `expired`: archived, or so old that the next message begins a new one. */
  state: z.enum(["created", "active", "expired"]),
  createdAt: z.string(),
  lastActivityAt: z.string().nullable(),
  expiresAt: z.string().nullable(),
  /** Reference of the model that answers; `symbolic` for the answer without a model. */
  preferredModel: z.string(),
  /** What prepares the next turn: of each slot the plugin by its name. */
  preferredPlannerPlugin: z.string().nullable(),
  preferredSeedDetectorPlugin: z.string().nullable(),
  preferredKBPlugin: z.string().nullable(),
  preferredGoalSolverPlugin: z.string().nullable(),
  /** The knowledge base that is searched for it, the first of them; and all of them. */
  mountedKbId: z.string().nullable(),
  mountedKbIds: z.array(z.string()),
  /** Of the newest turns, oldest first. */
  messageLog: z.array(z.strictObject({ role: z.enum(ROLES), content: z.string() })),
  sessionContextUnits: z.array(z.record(z.string(), z.unknown())),
  /** Of the newest turns, those that failed among them, oldest first. */
  explainabilityLog: z.array(
    z.strictObject({
      requestId: z.string(),
      deliveryId: z.string(),
      turn: z.int().nullable(),
      at: z.string(),
      status: traceSchema.shape.status,
      code: z.string().nullable(),
      /** Of a turn that failed: why, in words. */
      error: z.string().nullable(),
      /** Plugins by slot, where somebody chose one or one took another's place. */
      plugins: z.record(z.string(), z.string()),
      responsePreview: z.string().nullable(),
      executionTrace: traceSchema.pick({ totals: true, graph: true }),
    }),
  ),
});

/** A session under the names of the MRP document. */
export type SessionDocument = z.infer<typeof sessionDocumentSchema>;

/** The fields that say how the session is set up. */
export type SessionSetup = Omit<SessionDocument, "messageLog" | "sessionContextUnits" | "explainabilityLog">;

/**
 * How a session is set up.
 *
 * @param parts `isDue`: the next message would begin another session; plugins and solver of the next turn
 */
export function sessionSetup(
  { sessionId, turns, createdAt, lastActivityAt, expiresAt, kbs = [DEFAULT_KB] }: SessionFields,
  parts: {
    readonly entry: ChainEntry;
    readonly isDue: boolean;
    readonly plugins: Readonly<Partial<Record<Slot, UsedPlugin>>>;
    readonly solver: string;
  },
): SessionSetup {
  const { entry, isDue, plugins, solver } = parts;
  return {
    sessionId,
    state: entry.sealed !== undefined || isDue ? "expired" : turns === 0 ? "created" : "active",
    createdAt,
    lastActivityAt,
    expiresAt,
    preferredModel: solver,
    preferredPlannerPlugin: plugins.planner?.name ?? null,
    preferredSeedDetectorPlugin: plugins.sd?.name ?? null,
    preferredKBPlugin: plugins.kb?.name ?? null,
    preferredGoalSolverPlugin: plugins.gs?.name ?? null,
    mountedKbId: kbs[0] ?? null,
    mountedKbIds: kbs,
  };
}

const PREVIEW = 200;

/** The log of what happened, by time; a turn whose number is known comes behind a failure of the same instant. */
export function explainabilityLog(
  { turns, failures }: { readonly turns: readonly TurnRecord[]; readonly failures: readonly FailedTurn[] },
  options: TraceOptions,
): SessionDocument["explainabilityLog"] {
  const told = (
    which: Parameters<typeof traceOf>[0],
    rest: { readonly error: string | null; readonly plugins: UsedPlugins; readonly preview: string | null },
  ) => {
    const {
      v: _v,
      sessionId: _id,
      startedAt: _from,
      endedAt: at,
      totals,
      graph,
      ...head
    } = traceOf(which, options);
    return {
      ...head,
      at,
      error: rest.error,
      plugins: Object.fromEntries(Object.entries(rest.plugins).map(([slot, { name }]) => [slot, name])),
      responsePreview: rest.preview,
      executionTrace: { totals, graph },
    };
  };
  const failed = failures.map((failure) => {
    const { message: error, plugins = {} } = failure;
    return told({ kind: "failure", failure, place: 1, of: 1 }, { error, plugins, preview: null });
  });
  const committed = turns.map((turn) => {
    const { envelope } = turn.reply;
    const preview = sliceWhole(envelope === undefined ? answerOf(turn) : replyText(envelope), 0, PREVIEW);
    const { plugins = {} } = turn.explanation;
    return told({ kind: "turn", turn }, { error: null, plugins, preview });
  });
  return [...failed, ...committed].sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
}
