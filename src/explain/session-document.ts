/** A session as the MRP document describes one: its state and, under that document's names, what it is set up with and holds. */
import { z } from "zod";
import { replyText } from "#src/kernel/envelope.ts";
import { sliceWhole } from "#src/kernel/text.ts";
import type { ChainEntry } from "#src/sessions/chain.ts";
import { ROLES } from "#src/sessions/message.ts";
import type { Slot, UsedPlugin, UsedPlugins } from "#src/sessions/plugin-choices.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { answerOf, type TurnRecord } from "#src/sessions/turn-record.ts";
import { DEFAULT_KB } from "#memory/namespaces.ts";
import { traceOf, type TraceOptions } from "./derive-trace.ts";
import { traceSchema } from "./trace.ts";

/** `created`: nothing was said yet; `active`; `expired`: archived, or so old that the next message begins a new one. */
const sessionStateSchema = z.enum(["created", "active", "expired"]);

function sessionStateOf(
  { turns }: Pick<SessionFields, "turns">,
  { sealed }: Pick<ChainEntry, "sealed">,
  isDue: boolean,
): SessionSetup["state"] {
  if (sealed !== undefined || isDue) return "expired";
  return turns === 0 ? "created" : "active";
}

/** Schema of {@link SessionDocument}. */
export const sessionDocumentSchema = z.strictObject({
  sessionId: z.string(),
  state: sessionStateSchema,
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

/** What belongs to a session beside its fields. */
interface SetupParts {
  readonly entry: ChainEntry;
  /** The next message would begin another session. */
  readonly isDue: boolean;
  /** Those of the next turn, and what would answer it. */
  readonly plugins: Readonly<Partial<Record<Slot, UsedPlugin>>>;
  readonly solver: string;
}

/** How a session is set up. */
export function sessionSetup(
  session: SessionFields,
  { entry, isDue, plugins, solver }: SetupParts,
): SessionSetup {
  const { sessionId, createdAt, lastActivityAt, expiresAt, kbs = [DEFAULT_KB] } = session;
  const state = sessionStateOf(session, entry, isDue);
  const named = (slot: Slot): string | null => plugins[slot]?.name ?? null;
  return {
    sessionId,
    state,
    createdAt,
    lastActivityAt,
    expiresAt,
    preferredModel: solver,
    preferredPlannerPlugin: named("planner"),
    preferredSeedDetectorPlugin: named("sd"),
    preferredKBPlugin: named("kb"),
    preferredGoalSolverPlugin: named("gs"),
    mountedKbId: kbs[0] ?? null,
    mountedKbIds: kbs,
  };
}

const PREVIEW = 200;

function namesOf(plugins: UsedPlugins = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(plugins).map(([slot, { name }]) => [slot, name]));
}

/** The log of what happened, by time; a turn whose number is known comes behind a failure of the same instant. */
export function explainabilityLog(
  { turns, failures }: { readonly turns: readonly TurnRecord[]; readonly failures: readonly FailedTurn[] },
  options: TraceOptions,
): SessionDocument["explainabilityLog"] {
  const failed = failures.map((failure) => {
    const { totals, graph, status, requestId, code } = traceOf(
      { kind: "failure", failure, place: 1, of: 1 },
      options,
    );
    const { deliveryId, message: error, plugins } = failure;
    const told = {
      deliveryId,
      turn: null,
      status,
      code,
      error,
      plugins: namesOf(plugins),
      responsePreview: null,
    };
    return { requestId, ...told, at: failure.at, executionTrace: { totals, graph } };
  });
  const committed = turns.map((turn) => {
    const { totals, graph, status, requestId, code } = traceOf({ kind: "turn", turn }, options);
    const { envelope } = turn.reply;
    const said = sliceWhole(envelope === undefined ? answerOf(turn) : replyText(envelope), 0, PREVIEW);
    const { deliveryId, explanation } = turn;
    const plugins = namesOf(explanation.plugins);
    const told = { deliveryId, turn: turn.turn, status, code, error: null, plugins, responsePreview: said };
    return { requestId, ...told, at: turn.at, executionTrace: { totals, graph } };
  });
  return [...failed, ...committed].sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
}
