/** `/why <memory id>`: where a remembered fact comes from, with the words that were said, if they are still there. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { explainFact, factHeadline } from "#src/explain/explain-fact.ts";
import { quoted } from "#src/kernel/markdown.ts";
import { reasonsTable, reasonsText } from "#src/explain/reason.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import { spokenText } from "#src/sessions/message.ts";
import { isRedacted } from "#src/sessions/redaction.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { findRecord } from "../memory/find-record.ts";
import { momentOf, type ActionContext } from "../memory/memory-action.ts";
import { recordRow } from "../memory/record-row.ts";
import { knownSessions, nameFrom, type KnownSession } from "./session-names.ts";

/** Explains the record with that full or short id, also one that waits for a review. */
export async function whyFact(context: ActionContext, id: string): Promise<Envelope> {
  const { facts, who } = context.memory;
  const waiting = (await facts.review.list(who)).filter((record) => record.id.startsWith(id.toLowerCase()));
  const [only] = waiting;
  const found =
    waiting.length === 1 && only !== undefined
      ? ({ kind: "one", record: only } as const)
      : await findRecord(context, id);
  return found.kind === "one" ? factEnvelope(context, found.record) : found.envelope;
}

async function factEnvelope(context: ActionContext, record: MemoryRecord): Promise<Envelope> {
  const { nowMs, policy, memory } = context;
  const { records } = await memory.facts.exportAll(memory.who);
  const groups = await memory.facts.conflicts(memory.who);
  const known = await knownSessions(context, record.session_id === null ? [] : [record.session_id]);
  const telling = { nowMs, timeZone: policy.timeZone, nameOf: nameFrom(known) };
  const around = {
    words: await wordsOf(context, record, known),
    replaced: records.filter(({ id }) => record.supersedes.includes(id)),
    replacedBy: records.find(({ id }) => id === record.superseded_by),
    conflicts: groups
      .map((group) => group.records)
      .filter((group) => group.some(({ id }) => id === record.id))
      .flatMap((group) => group.filter(({ id }) => id !== record.id)),
  };
  const headline = factHeadline(record);
  const reasons = explainFact(record, around, telling);
  const row = (other: MemoryRecord) => recordRow(other, momentOf(context));
  return done("memory_explained", reasonsText(headline, reasons), {
    next: "/memory edit <id> <text> corrects it, /memory verify <id> confirms it, /forget <id> erases it.",
    ...reasonsTable(headline, reasons),
    data: {
      headline,
      reasons: reasons.map((reason) => ({ ...reason })),
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
  { repository, policy }: ActionContext,
  { session_id, turn, text }: MemoryRecord,
  known: ReadonlyMap<string, KnownSession>,
): Promise<string | undefined> {
  const ref = known.get(session_id ?? "")?.ref;
  if (ref === undefined || session_id === null || turn === null) return undefined;
  try {
    const stored = await repository.readStoredTurn({ ...ref, sessionId: session_id }, turn);
    if (stored === undefined) return "the turn is not in the transcript";
    if (isRedacted(stored))
      return `what was said was erased (${localTime(stored.redacted.at, policy.timeZone)})`;
    return quoted(lineWith(text, spokenText(stored.messages.find(({ role }) => role === "user"))));
  } catch (error) {
    // A damaged turn is no reason to say nothing of the fact.
    if (!isLilyError(error)) throw error;
    return `the turn cannot be read: ${error.message}`;
  }
}

/** The line that says the fact, or all of it. */
function lineWith(fact: string, said: string): string {
  return said.split("\n").find((line) => line.includes(fact)) ?? said;
}
