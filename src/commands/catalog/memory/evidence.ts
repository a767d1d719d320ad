/** `/memory evidence ingest`, `show` and `forget`: documents that are found by similarity, cited, and no facts. */
import { counted, quoted } from "#src/kernel/markdown.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { EVIDENCE_LABEL, nameOf } from "#memory/evidence/evidence-item.ts";
import type { EvidenceBook } from "#memory/evidence/evidence-book.ts";
import { shortId } from "#memory/record.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { localTime } from "#src/kernel/clock.ts";
import { findSessionByReference, type ChainEntry } from "#src/sessions/chain.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { MAX_FILE_BYTES } from "#memory/evidence/evidence-document.ts";
import type { EvidenceFile } from "#memory/evidence/read-document.ts";
import { committed, refuse, type CommandContext } from "../../command.ts";
import { parseFlags } from "../../parse-command.ts";
import { ingestedEnvelope, piecesShown, sourcesShown } from "./evidence-shown.ts";
import { looksLikeId } from "./records.ts";
import { filesOf, pathOf, usageOf, type MemoryAction, type MemoryContext } from "./memory-action.ts";

/** Pieces that are shown. */
const SHOWN = 5;

/** `/memory evidence show [query]`. */
export const evidenceShowAction: MemoryAction = {
  words: "evidence show",
  usage: "[words]",
  summary: "the documents you gave as evidence, or what in them fits the words; it is cited, and is no fact",
  reads: true,
  async run(args, context) {
    const { text: query } = parseFlags(args, { usage: usageOf(this) });
    const evidence = evidenceIn(context);
    return query === "" ? listed(evidence, context) : found(evidence, query, context);
  },
};

/** `/memory evidence ingest <path or ref>`. */
export const evidenceIngestAction: MemoryAction = {
  words: "evidence ingest",
  usage: "<path or session:number>",
  summary: "keep a text, Markdown, HTML or PDF file, or an ended session, as evidence",
  asks: "which file?",
  // Before anything is read.
  async check(args, context) {
    const wanted = pathOf(args);
    if (ADDRESS.test(wanted))
      refuse("evidence_unsupported", "Lily does not fetch addresses", {
        next: "Save the page as a file, and give its path. Nothing was stored.",
      });
    if (args !== "" && !SESSION.test(wanted)) filesOf(context);
  },
  run: (args, context) => ingestInto(evidenceIn(context), args, context),
};

/** Keeps a file, or a session, in a book. */
export async function ingestInto(evidence: EvidenceBook, reference: string, context: MemoryContext) {
  const file = await evidenceFile(reference, context);
  const outcome = await evidence.ingest(context.memory.who, file);
  const envelope = ingestedEnvelope(outcome, context.policy.timeZone);
  return { envelope, isCommitted: outcome.kind === "stored" };
}

/** `/memory evidence forget <id>`. */
export const evidenceForgetAction: MemoryAction = {
  words: "evidence forget",
  usage: "<id>",
  summary: "erase a document and all its passages; the file itself stays where it is",
  asks: "which document?",
  async run(args, context) {
    const evidence = evidenceIn(context);
    const { who } = context.memory;
    // Of whatever knowledge base.
    const kbs = looksLikeId(args) ? await evidence.kbs(who) : [];
    const all = await Promise.all(
      kbs.map(async (kb) => (await evidence.of(kb).sources(who)).map((source) => ({ kb, source }))),
    );
    const fitting = all.flat().filter(({ source }) => source.id.startsWith(args.toLowerCase()));
    const [first] = fitting;
    if (first === undefined)
      return refuse("evidence_not_found", `no document has the id ${quoted(args)}`, {
        next: "/memory evidence show lists them, with their ids.",
      });
    if (fitting.length > 1) {
      const sources = fitting.map(({ source }) => source);
      const { rows, body } = sourcesShown(sources, context.policy.timeZone);
      const what = `${counted(sources.length, "document")} have an id that begins with ${args}`;
      return refuse("evidence_ambiguous", what, {
        next: "Nothing was changed. Write more of the id.",
        data: { sources: rows },
        body,
      });
    }
    const { id, title, pieces } = first.source;
    await evidence.of(first.kb).forget(who, id);
    const message = `Erased from evidence: “${title}” (${shortId(id)}), ${counted(pieces, "passage")}.`;
    return committed("evidence_forgotten", message, {
      next: "The file itself was not touched; what was quoted in conversations stays in their transcripts.",
      data: { id, file: nameOf(first.source), pieces },
    });
  },
};

/** The documents, where they can be reached. */
export function evidenceIn({ evidence }: CommandContext): EvidenceBook {
  return (
    evidence ??
    refuse("memory_unavailable", "evidence cannot be reached from here", {
      next: "Ask in the terminal, or over Lily's own server.",
    })
  );
}

async function listed(evidence: EvidenceBook, { memory, policy }: MemoryContext): Promise<Envelope> {
  const sources = await evidence.sources(memory.who);
  const { rows, body } = sourcesShown(sources, policy.timeZone);
  const data = { canonical: false, sources: rows };
  if (sources.length === 0)
    return done("evidence_sources", "No document is kept as evidence.", {
      next: "/memory evidence ingest <path> keeps one.",
      data,
    });
  const message = `${counted(sources.length, "document")} kept as evidence: cited, and no facts that Lily vouches for.`;
  return done("evidence_sources", message, {
    next: "/memory evidence show <words> looks in them; /memory evidence forget <id> erases one.",
    data,
    body,
  });
}

async function found(
  evidence: EvidenceBook,
  query: string,
  { memory, policy: { timeZone } }: MemoryContext,
): Promise<Envelope> {
  const pieces = await evidence.search(memory.who, query, SHOWN);
  const { rows, body } = piecesShown(pieces, { query, timeZone });
  const data = { query, canonical: false, label: EVIDENCE_LABEL, evidence: rows };
  const fit = quoted(query);
  if (pieces.length === 0)
    return done("evidence_shown", `No evidence fits ${fit}.`, {
      next: "/memory evidence show lists the documents.",
      data,
    });
  const what = pieces.length === 1 ? "One passage fits" : `${pieces.length} passages fit`;
  return done("evidence_shown", `${what} ${fit}, best first. Each is ${EVIDENCE_LABEL}.`, {
    next: "/memory evidence forget <id> erases a document.",
    data,
    body,
  });
}

const SESSION = /^session:(.*)$/isu;
const ADDRESS = /^[a-z][a-z0-9+.-]+:\/\//iu;

/**
 * The file, or the session as one.
 *
 * @throws {LilyError} `file_failed`, `file_too_large`, `session_not_found`, `session_ambiguous`, `evidence_unsupported`
 */
async function evidenceFile(reference: string, context: MemoryContext): Promise<EvidenceFile> {
  const wanted = pathOf(reference);
  const session = SESSION.exec(wanted)?.[1]?.trim();
  if (session !== undefined) return sessionFile(session, context);
  return filesOf(context).readBytes(wanted, MAX_FILE_BYTES);
}

async function sessionFile(reference: string, context: MemoryContext): Promise<EvidenceFile> {
  const { chain, repository, policy } = context;
  const entry = findSessionByReference(chain, reference);
  const turns = entry.sealed?.turns ?? 0;
  if (turns === 0)
    throw new LilyError("evidence_unsupported", `session ${entry.ordinal} has not ended, or is empty`, {
      next: "/sessions lists those that have ended; /new ends this one.",
    });
  const records = await repository.readTurns(
    { ...chain, sessionId: entry.sessionId },
    { from: 1, to: turns },
  );
  const text = [headingOf(entry), ...records.map((record) => turnText(record, policy.timeZone))].join("\n\n");
  return { path: `session:${entry.sessionId}`, bytes: new TextEncoder().encode(text), isConversation: true };
}

function headingOf({ ordinal, title }: ChainEntry): string {
  return `# Session ${ordinal}${title === undefined ? "" : `: ${title}`}`;
}

/** Commands are no part of what was said. */
function turnText(record: TurnRecord, timeZone: string): string {
  if (record.kind === "command") return "";
  const when = localTime(record.at, timeZone);
  const said = record.messages.flatMap(({ role, content }) => {
    if (role !== "user" && role !== "assistant") return [];
    return content.trim() === "" ? [] : [`${role === "user" ? "User" : "Lily"}: ${content}`];
  });
  return said.length === 0 ? "" : [`## Turn ${record.turn}, ${when}`, ...said].join("\n\n");
}
