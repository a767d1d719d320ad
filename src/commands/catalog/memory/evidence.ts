/** `/memory evidence ingest`, `show` and `forget`: documents that are found by similarity, cited, and no facts. */
import { counted, quoted } from "#src/kernel/markdown.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { EVIDENCE_LABEL, nameOf } from "#memory/evidence/citation.ts";
import type { EvidenceBook } from "#memory/evidence/evidence-book.ts";
import type { EvidenceSource } from "#memory/evidence/evidence-item.ts";
import { shortId } from "#memory/record.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import { findSessionByReference, type ChainEntry } from "#src/sessions/chain.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { MAX_FILE_BYTES } from "#memory/evidence/limits.ts";
import type { EvidenceFile } from "#memory/evidence/read-document.ts";
import { parseFlags, usageEnvelope } from "../../parse-command.ts";
import { ingestedEnvelope, pieceRow, piecesText, sourceRow, sourcesTable } from "./evidence-shown.ts";
import { looksLikeId } from "./find-record.ts";
import { pathOf, told, usageOf, type ActionContext, type MemoryAction } from "./memory-action.ts";

/** Pieces that are shown. */
const SHOWN = 5;

/** `/memory evidence show [query]`. */
export const evidenceShowAction: MemoryAction = {
  words: "evidence show",
  usage: "[words]",
  summary: "the documents you gave as evidence, or what in them fits the words; it is cited, and is no fact",
  reads: true,
  async run(args, context) {
    const { evidence } = context;
    if (evidence === undefined) return { envelope: noEvidence() };
    const flags = parseFlags(args, {});
    if (!flags.ok) return { envelope: usageEnvelope(flags.problem, usageOf(this)) };
    const query = flags.text;
    return {
      envelope: query === "" ? await listed(evidence, context) : await found(evidence, query, context),
    };
  },
};

/** `/memory evidence ingest <path or ref>`. */
export const evidenceIngestAction: MemoryAction = {
  words: "evidence ingest",
  usage: "<path or session:number>",
  summary: "keep a text, Markdown, HTML or PDF file, or an ended session, as evidence",
  reads: false,
  async objection(args, context) {
    if (context.evidence === undefined) return noEvidence();
    if (args === "") return usageEnvelope("which file?", usageOf(this));
    return objectionToReference(args, context);
  },
  async run(args, context) {
    const { evidence } = context;
    const objection = await this.objection?.(args, context);
    if (evidence === undefined || objection !== undefined) return { envelope: objection ?? noEvidence() };
    const envelope = await told(async () => {
      const outcome = await evidence.ingest(context.memory.who, await evidenceFile(args, context));
      return ingestedEnvelope(outcome, context.policy.timeZone);
    });
    return envelope.code === "evidence_ingested" ? { envelope, isCommitted: true } : { envelope };
  },
};

/** `/memory evidence forget <id>`. */
export const evidenceForgetAction: MemoryAction = {
  words: "evidence forget",
  usage: "<id>",
  summary: "erase a document and all its passages; the file itself stays where it is",
  reads: false,
  async run(args, context) {
    const { evidence } = context;
    if (evidence === undefined) return { envelope: noEvidence() };
    if (args === "") return { envelope: usageEnvelope("which document?", usageOf(this)) };
    const { who } = context.memory;
    // Of whatever knowledge base.
    const kbs = looksLikeId(args) ? await evidence.kbs(who) : [];
    const all = await Promise.all(
      kbs.map(async (kb) => (await evidence.of(kb).sources(who)).map((source) => ({ kb, source }))),
    );
    const fitting = all.flat().filter(({ source }) => source.id.startsWith(args.toLowerCase()));
    const [found] = fitting;
    if (found === undefined) return { envelope: notFound(args) };
    if (fitting.length > 1)
      return {
        envelope: ambiguous(
          fitting.map(({ source }) => source),
          args,
          context,
        ),
      };
    await evidence.of(found.kb).forget(who, found.source.id);
    return { envelope: forgotten(found.source), isCommitted: true };
  },
};

async function listed(evidence: EvidenceBook, { memory, policy }: ActionContext): Promise<Envelope> {
  const sources = await evidence.sources(memory.who);
  const rows = sources.map((source) => sourceRow(source, policy.timeZone));
  const message =
    sources.length === 0
      ? "No document is kept as evidence."
      : `${counted(sources.length, "document")} kept as evidence: cited, and no facts that Lily vouches for.`;
  return done("evidence_sources", message, {
    next:
      sources.length === 0
        ? "/memory evidence ingest <path> keeps one."
        : "/memory evidence show <words> looks in them; /memory evidence forget <id> erases one.",
    data: { canonical: false, sources: rows },
    body: sourcesTable(rows),
  });
}

async function found(
  evidence: EvidenceBook,
  query: string,
  { memory, policy }: ActionContext,
): Promise<Envelope> {
  const pieces = await evidence.search(memory.who, query, SHOWN);
  const rows = pieces.map((piece) => pieceRow(piece, { query, timeZone: policy.timeZone }));
  const fit = quoted(query);
  const message =
    pieces.length === 0
      ? `No evidence fits ${fit}.`
      : `${pieces.length === 1 ? "One passage fits" : `${pieces.length} passages fit`} ${fit}, best first. Each is ${EVIDENCE_LABEL}.`;
  return done("evidence_shown", message, {
    next:
      pieces.length === 0
        ? "/memory evidence show lists the documents."
        : "/memory evidence forget <id> erases a document.",
    data: {
      query,
      canonical: false,
      label: EVIDENCE_LABEL,
      evidence: rows,
    },
    body: piecesText(rows),
  });
}

function forgotten(source: EvidenceSource): Envelope {
  const { id, title, pieces } = source;
  return done(
    "evidence_forgotten",
    `Erased from evidence: “${title}” (${shortId(id)}), ${counted(pieces, "passage")}.`,
    {
      next: "The file itself was not touched; what was quoted in conversations stays in their transcripts.",
      data: { id, file: nameOf(source), pieces },
    },
  );
}

function notFound(wanted: string): Envelope {
  return refused("evidence_not_found", `no document has the id ${quoted(wanted)}`, {
    next: "/memory evidence show lists them, with their ids.",
  });
}

function ambiguous(sources: readonly EvidenceSource[], wanted: string, { policy }: ActionContext): Envelope {
  const rows = sources.map((source) => sourceRow(source, policy.timeZone));
  return refused(
    "evidence_ambiguous",
    `${counted(sources.length, "document")} have an id that begins with ${wanted}`,
    {
      next: "Nothing was changed. Write more of the id.",
      data: { sources: rows },
      body: sourcesTable(rows),
    },
  );
}

function noEvidence(): Envelope {
  return refused("memory_unavailable", "evidence cannot be reached from here", {
    next: "Ask in the terminal, or over Lily's own server.",
  });
}

const SESSION = /^session:(.*)$/isu;
const ADDRESS = /^[a-z][a-z0-9+.-]+:\/\//iu;

/** Why a reference is refused before anything is read; `undefined` when it may be tried. */
function objectionToReference(reference: string, { files }: ActionContext): Envelope | undefined {
  const wanted = pathOf(reference);
  if (ADDRESS.test(wanted))
    return refused("evidence_unsupported", "Lily does not fetch addresses", {
      next: "Save the page as a file, and give its path. Nothing was stored.",
    });
  if (SESSION.test(wanted) || files !== undefined) return undefined;
  return refused("files_unavailable", "files are read in the terminal alone", {
    next: "Run lily on the machine where the file is.",
  });
}

/**
 * The file, or the session as one.
 *
 * @throws {LilyError} `file_failed`, `file_too_large`, `session_not_found`, `session_ambiguous`, `evidence_unsupported`
 */
async function evidenceFile(reference: string, context: ActionContext): Promise<EvidenceFile> {
  const wanted = pathOf(reference);
  const session = SESSION.exec(wanted)?.[1]?.trim();
  if (session !== undefined) return sessionFile(session, context);
  const { files } = context;
  if (files === undefined) throw new LilyError("files_unavailable", "files are read in the terminal alone");
  return files.readBytes(wanted, MAX_FILE_BYTES);
}

async function sessionFile(reference: string, context: ActionContext): Promise<EvidenceFile> {
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
