/** `/why [turn | last | failed | memory id]`: why a turn went as it went, what its model was given, or where a remembered fact comes from. */
import { explainFact, factHeadline } from "#src/explain/explain-fact.ts";
import {
  explainFailure,
  explainTurn,
  failureHeadline,
  sessionText,
  turnHeadline,
} from "#src/explain/explain-turn.ts";
import { type Reason, reasonsTable, reasonsText, type Telling } from "#src/explain/reason.ts";
import { findWhichTurn, type WhichTurn } from "#src/explain/which-turn.ts";
import { done, refused, type Envelope, type EnvelopeData } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { counted, fenced, joined, quoted } from "#src/kernel/markdown.ts";
import { turnsGiven } from "#src/sessions/call-receipt.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { localTime } from "#src/kernel/clock.ts";
import { attachmentText, spokenText, type Message } from "#src/sessions/message.ts";
import { isRedacted } from "#src/sessions/redaction.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import { refuse, type CommandContext, type PlainCommand } from "../command.ts";
import { lastWithCalls } from "./context.ts";
import { findRecord, looksLikeId, recordRow, waitingRecords } from "./memory/records.ts";
import { withMemory, type MemoryContext } from "./memory/memory-action.ts";

export const whyCommand: PlainCommand = {
  name: "why",
  summary: "Explain the latest turn, another one, or a remembered fact",
  usage: "/why [turn number, failed [n], or memory id] [--prompt [call]]",
  effects: ["reads"],
  async run(args, context) {
    const asked = args.trim().replace(/^#/u, "");
    const prompt = /^(\S*)\s*(?:--|—|–)prompt(?:\s+(\d{1,4}))?$/iu.exec(asked);
    if (prompt !== null) return whyPrompt(context, prompt[1] ?? "", prompt[2]);
    // A number is a turn, unless there is no such turn and it can be the beginning of an id.
    const which = await findWhichTurn(context.repository, context.session, asked);
    if (which !== undefined && !(which.kind === "missing" && looksLikeId(asked)))
      return whyTurn(context, which);
    return looksLikeId(asked) ? whyFact(withMemory(context), asked) : refuseAsked();
  },
};

function refuseAsked(): never {
  return refuse("command_usage", "that is neither the number of a turn nor the id of a remembered fact", {
    next: "/why explains the latest turn, /why 3 turn 3, /why 1a2b3c4d a fact; /history and /memory show list them.",
  });
}

/** Explains what was found: a turn of this session, the failure after it, or a session without turns. */
export async function whyTurn(context: CommandContext, which: WhichTurn): Promise<Envelope> {
  switch (which.kind) {
    case "missing":
      return refused("turn_not_found", which.what, {
        next: "/history lists them; /why alone explains the latest.",
      });
    case "session": {
      const text = sessionText(context, await tellingFor(context, []));
      return explained(context, "session_explained", "Nothing was said in this session yet.", {
        reasons: [{ about: "session", text }],
        data: { opened: context.entry.opened.verdict ?? null },
      });
    }
    case "erased": {
      const { turn, redacted } = which.turn;
      const at = localTime(redacted.at, context.policy.timeZone);
      const headline = `What was said in turn ${turn} was erased (${at}), and why with it.`;
      const data = { turn, erased: redacted.at };
      return explained(context, "turn_explained", headline, { reasons: [], data });
    }
    case "failure": {
      const { failure } = which;
      const telling = await tellingFor(context, []);
      const { at, code, message, node, deliveryId, attempts = [] } = failure;
      return explained(context, "failure_explained", failureHeadline(failure, telling), {
        reasons: explainFailure(failure, context, telling),
        data: { failure: { at, code, message, node, deliveryId, attempts } },
      });
    }
    case "turn":
      return committedEnvelope(context, which.turn);
  }
}

async function committedEnvelope(context: CommandContext, record: TurnRecord): Promise<Envelope> {
  const { explanation, turn, at, kind, status, deliveryId } = record;
  const { receipt, recalled = [], sources = [] } = explanation;
  const quotedFacts = sources.flatMap((source) => (source.kind === "fact" ? [source.id] : []));
  const ids = [...new Set([...quotedFacts, ...(receipt?.memory ?? []).map(({ id }) => id)])];
  const { memory } = context;
  const found = memory === undefined || ids.length === 0 ? [] : await memory.facts.byIds(memory.who, ids);
  const facts = new Map(found.map((fact) => [fact.id, fact]));
  const failures = await context.repository.readFailures(context.session);
  const telling = await tellingFor(context, [
    ...turnsGiven(record.sessionId, explanation).map(({ sessionId }) => sessionId),
    ...recalled.map(({ sessionId }) => sessionId),
    ...sources.flatMap((source) => (source.kind === "turn" ? [source.sessionId] : [])),
    ...found.flatMap(({ session_id }) => session_id ?? []),
  ]);
  const around = {
    ...context,
    facts,
    failures: failures.filter((failed) => failed.deliveryId === deliveryId),
  };
  return explained(context, "turn_explained", turnHeadline(record, telling), {
    reasons: explainTurn(record, around, telling),
    data: {
      turn,
      at,
      kind,
      status,
      explanation,
      facts: ids.map((id) => factData(id, facts.get(id), context)),
    },
  });
}

/** Facts that are gone are named by their id alone: what they said went with them. */
function factData(id: string, record: MemoryRecord | undefined, context: CommandContext): EnvelopeData {
  return record === undefined
    ? { id, short: shortId(id), text: null, state: "forgotten" }
    : recordRow(record, context);
}

function explained(
  { session: { sessionId }, entry: { ordinal } }: CommandContext,
  code: string,
  headline: string,
  { reasons, data }: { readonly reasons: readonly Reason[]; readonly data: EnvelopeData },
): Envelope {
  return done(code, reasonsText(headline, reasons), {
    next: "/why <turn number> explains another turn, /why <id> a remembered fact.",
    ...reasonsTable(headline, reasons),
    data: { headline, reasons, sessionId, ordinal, ...data },
  });
}

/** Shows the messages of a model call, rendered again from its receipt; of the last one of the turn where none is named. */
async function whyPrompt(
  context: CommandContext,
  which: string,
  asked: string | undefined,
): Promise<Envelope> {
  const isNumber = /^\d{1,9}$/u.test(which);
  if (!isNumber && !["", "last"].includes(which.toLowerCase())) return refuseAsked();
  const { repository, session } = context;
  // Commands have no calls: the latest turn in which a model was asked.
  const turn = isNumber
    ? Number(which)
    : ((await lastWithCalls(context, session.turns))?.turn ?? session.turns);
  const record = await repository.readTurn(session, turn);
  const { calls = [] } = record?.explanation ?? {};
  const number = asked === undefined ? calls.length : Number(asked);
  const call = calls[number - 1];
  const shown = record && call && (await context.promptOf?.(record, number - 1));
  if (call === undefined || shown === undefined)
    return refuse(
      "turn_not_found",
      `turn ${turn} has no model call ${number === 0 ? "" : `${number} `}to show`,
      {
        next: `/why ${turn} explains it; prompts of earlier versions were not kept.`,
      },
    );
  const but = shown.isExact ? "" : ", but for what was forgotten, erased or changed since";
  const { thoughts = 0 } = call;
  const thought =
    thoughts === 0
      ? ""
      : ` What it had thought before ${counted(thoughts, "step")} with tools went back to it and is not kept.`;
  const lead = `Turn ${turn}, call ${number} of ${calls.length}: ${call.model} was given these messages${but}.${thought}`;
  const text = shown.messages.map(messageText).join("\n\n");
  return done("prompt_shown", `${lead}\n\n${text}`, {
    lead,
    body: fenced("text", text),
    data: { turn, call: number, ...shown },
  });
}

function messageText(message: Omit<Message, "timestamp">): string {
  const { role, content, toolCalls = [], toolCallId, attachments = [] } = message;
  const calls = toolCalls.map(({ id, name, arguments: given }) => `[calls ${name} ${given} as ${id}]`);
  const head = toolCallId === undefined ? `[${role}]` : `[${role} ${toolCallId}]`;
  return joined([head, content, ...attachments.map(attachmentText), ...calls], "\n");
}

/** Where the record with that full or short id comes from, with the words that were said, if they are still there. */
async function whyFact(context: MemoryContext, id: string): Promise<Envelope> {
  const { facts, who } = context.memory;
  const waiting = await waitingRecords(context, id);
  const record =
    waiting.length === 1 && waiting[0] !== undefined ? waiting[0] : await findRecord(context, id);
  const { records } = await facts.exportAll(who);
  const groups = (await facts.conflicts(who)).map((group) => group.records);
  const known = await knownSessions(context, record.session_id === null ? [] : [record.session_id]);
  const { nowMs, policy } = context;
  const isOther = (other: MemoryRecord): boolean => other.id !== record.id;
  const around = {
    words: await wordsOf(context, record, known),
    replaced: records.filter((other) => record.supersedes.includes(other.id)),
    replacedBy: records.find((other) => other.id === record.superseded_by),
    conflicts: groups
      .filter((group) => group.some((one) => !isOther(one)))
      .flatMap((group) => group.filter(isOther)),
  };
  const headline = factHeadline(record);
  const reasons = explainFact(record, around, { nowMs, timeZone: policy.timeZone, nameOf: nameFrom(known) });
  const row = (other: MemoryRecord) => recordRow(other, context);
  return done("memory_explained", reasonsText(headline, reasons), {
    next: "/memory edit <id> <text> corrects it, /memory verify <id> confirms it, /forget <id> erases it.",
    ...reasonsTable(headline, reasons),
    data: {
      headline,
      reasons,
      record: row(record),
      words: around.words ?? null,
      replaced: around.replaced.map(row),
      replacedBy: around.replacedBy === undefined ? null : row(around.replacedBy),
      conflicts: around.conflicts.map(row),
    },
  });
}

/** What was said in the turn from which the fact is. */
async function wordsOf(
  { repository, policy }: CommandContext,
  { session_id, turn, text }: MemoryRecord,
  known: KnownSessions,
): Promise<string | undefined> {
  const ref = known.get(session_id ?? "")?.ref;
  if (ref === undefined || session_id === null || turn === null) return undefined;
  try {
    const stored = await repository.readStoredTurn({ ...ref, sessionId: session_id }, turn);
    if (stored === undefined) return "the turn is not in the transcript";
    if (isRedacted(stored))
      return `what was said was erased (${localTime(stored.redacted.at, policy.timeZone)})`;
    const said = spokenText(stored.messages.find(({ role }) => role === "user"));
    // The line that says the fact, or all of it.
    return quoted(said.split("\n").find((line) => line.includes(text)) ?? said);
  } catch (error) {
    // A damaged turn is no reason to say nothing of the fact.
    if (!isLilyError(error)) throw error;
    return `the turn cannot be read: ${error.message}`;
  }
}

/** Sessions that the owner has, with the names under which the owner knows them. */
type KnownSessions = ReadonlyMap<string, { readonly ref: KeyRef; readonly name: string }>;

/** The sessions with these ids, as far as they are the owner's; chains of other keys are read once each. */
async function knownSessions(
  { repository, chain, session }: CommandContext,
  ids: Iterable<string>,
): Promise<KnownSessions> {
  const known = new Map<string, { readonly ref: KeyRef; readonly name: string }>();
  const chains = new Map<string, Chain | undefined>([[chain.sessionKey, chain]]);
  for (const id of new Set(ids)) {
    const ref = entryOf(chain, id) === undefined ? await repository.findSession(id) : chain;
    // An id may come out of an imported file: what it names is told only to whom it belongs.
    if (ref?.owner !== session.owner) continue;
    const { owner, sessionKey } = ref;
    if (!chains.has(sessionKey)) chains.set(sessionKey, await repository.readChain({ owner, sessionKey }));
    const ordinal = entryOf(chains.get(sessionKey) ?? chain, id)?.ordinal;
    const where = sessionKey === chain.sessionKey ? "" : ` of ${sessionKey}`;
    const name = id === session.sessionId ? "this session" : `session ${ordinal ?? id.slice(0, 8)}${where}`;
    known.set(id, { ref: { owner, sessionKey }, name });
  }
  return known;
}

/** The name of each session; of one that is not known the beginning of its id. */
function nameFrom(known: KnownSessions): Telling["nameOf"] {
  return (sessionId) =>
    known.get(sessionId)?.name ?? `session ${sessionId.slice(0, 8)}, which is not known here`;
}

async function tellingFor(context: CommandContext, ids: readonly string[]): Promise<Telling> {
  const { entry, nowMs, policy, session } = context;
  const known = await knownSessions(context, [session.sessionId, ...entry.continues, ...ids]);
  return { nowMs, timeZone: policy.timeZone, nameOf: nameFrom(known) };
}
