/** `/why [turn]`: the explanation of a turn of this session, of the failure after it, or of a session without turns. */
import { done, type Envelope, type EnvelopeData, refused } from "#src/kernel/envelope.ts";
import {
  explainFailure,
  explainTurn,
  failureHeadline,
  sessionText,
  turnHeadline,
} from "#src/explain/explain-turn.ts";
import type { WhichTurn } from "#src/explain/which-turn.ts";
import { type Reason, reasonsTable, reasonsText, type Telling } from "#src/explain/reason.ts";
import { turnsGiven } from "#src/sessions/call-receipt.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import type { RedactedTurn } from "#src/sessions/redaction.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { type MemoryRecord, shortId } from "#memory/record.ts";
import type { CommandContext } from "../../command.ts";
import { momentOf } from "../memory/memory-action.ts";
import { recordRow } from "../memory/record-row.ts";
import { knownSessions, nameFrom } from "./session-names.ts";

/** Explains what was found. */
export async function whyTurn(context: CommandContext, which: WhichTurn): Promise<Envelope> {
  switch (which.kind) {
    case "session":
      return sessionEnvelope(context);
    case "failure":
      return failureEnvelope(context, which.failure);
    case "missing":
      return refused("turn_not_found", which.what, {
        next: "/history lists them; /why alone explains the latest.",
      });
    case "erased":
      return erasedEnvelope(context, which.turn);
    case "turn":
      return turnEnvelope(context, which.turn);
  }
}

async function turnEnvelope(context: CommandContext, turn: TurnRecord): Promise<Envelope> {
  const { receipt, recalled = [], sources = [] } = turn.explanation;
  const quoted = sources.flatMap((source) => (source.kind === "fact" ? [source.id] : []));
  const ids = [...new Set([...quoted, ...(receipt?.memory ?? []).map(({ id }) => id)])];
  const facts = await factsById(context, ids);
  const failures = await context.repository.readFailures(context.session);
  const telling = await tellingFor(context, [
    ...turnsGiven(turn.explanation).map(({ sessionId }) => sessionId),
    ...recalled.map(({ sessionId }) => sessionId),
    ...sources.flatMap((source) => (source.kind === "turn" ? [source.sessionId] : [])),
    ...[...facts.values()].flatMap(({ session_id }) => session_id ?? []),
  ]);
  const around = {
    ...context,
    facts,
    failures: failures.filter((failed) => failed.deliveryId === turn.deliveryId),
  };
  return explained("turn_explained", turnHeadline(turn, telling), explainTurn(turn, around, telling), {
    ...placeOf(context),
    turn: turn.turn,
    at: turn.at,
    kind: turn.kind,
    status: turn.status,
    explanation: turn.explanation,
    facts: ids.map((id) => factData(id, facts.get(id), context)),
  });
}

/** Facts that are gone are named by their id alone: what they said went with them. */
function factData(id: string, record: MemoryRecord | undefined, context: CommandContext): EnvelopeData {
  return record === undefined
    ? { id, short: shortId(id), text: null, state: "forgotten" }
    : recordRow(record, momentOf(context));
}

async function factsById(
  { memory }: CommandContext,
  ids: readonly string[],
): Promise<Map<string, MemoryRecord>> {
  if (memory === undefined || ids.length === 0) return new Map();
  const wanted = new Set(ids);
  const { records } = await memory.facts.exportAll(memory.who);
  return new Map(records.filter(({ id }) => wanted.has(id)).map((record) => [record.id, record]));
}

async function failureEnvelope(context: CommandContext, failure: FailedTurn): Promise<Envelope> {
  const telling = await tellingFor(context, []);
  const reasons = explainFailure(failure, context, telling);
  const { at, code, message, node, deliveryId, attempts = [] } = failure;
  return explained("failure_explained", failureHeadline(failure, telling), reasons, {
    ...placeOf(context),
    failure: { at, code, message, node, deliveryId, attempts },
  });
}

async function sessionEnvelope(context: CommandContext): Promise<Envelope> {
  const telling = await tellingFor(context, []);
  const text = sessionText(context, telling);
  return explained(
    "session_explained",
    "Nothing was said in this session yet.",
    [{ about: "session", text }],
    {
      ...placeOf(context),
      opened: context.entry.opened.verdict ?? null,
    },
  );
}

function erasedEnvelope(context: CommandContext, { turn, redacted }: RedactedTurn): Envelope {
  const at = localTime(redacted.at, context.policy.timeZone);
  return explained(
    "turn_explained",
    `What was said in turn ${turn} was erased (${at}), and why with it.`,
    [],
    {
      ...placeOf(context),
      turn,
      erased: redacted.at,
    },
  );
}

function placeOf({ session, entry }: CommandContext): EnvelopeData {
  return { sessionId: session.sessionId, ordinal: entry.ordinal };
}

function explained(code: string, headline: string, reasons: readonly Reason[], data: EnvelopeData): Envelope {
  return done(code, reasonsText(headline, reasons), {
    next: "/why <turn number> explains another turn, /why <id> a remembered fact.",
    ...reasonsTable(headline, reasons),
    data: { headline, reasons: reasons.map((reason) => ({ ...reason })), ...data },
  });
}

async function tellingFor(context: CommandContext, ids: readonly string[]): Promise<Telling> {
  const { entry, nowMs, policy, session } = context;
  const known = await knownSessions(context, [session.sessionId, ...entry.continues, ...ids]);
  return { nowMs, timeZone: policy.timeZone, nameOf: nameFrom(known) };
}
