/** What a person means by a path or reference: a file at this machine, or a session that has ended. */
import { refused, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import { findSessionByReference } from "#src/sessions/session-reference.ts";
import type { ChainEntry } from "#src/sessions/chain.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { MAX_FILE_BYTES } from "#memory/evidence/limits.ts";
import type { EvidenceFile } from "#memory/evidence/read-document.ts";
import { pathOf, type ActionContext } from "./memory-action.ts";

const SESSION = /^session:(.*)$/isu;
const ADDRESS = /^[a-z][a-z0-9+.-]+:\/\//iu;

/** Why a reference is refused before anything is read; `undefined` when it may be tried. */
export function objectionToReference(reference: string, { files }: ActionContext): Envelope | undefined {
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
export async function evidenceFile(reference: string, context: ActionContext): Promise<EvidenceFile> {
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
  const when = localMinute(fromInstant(record.at), timeZone);
  const said = record.messages.flatMap(({ role, content }) => {
    if (role !== "user" && role !== "assistant") return [];
    return content.trim() === "" ? [] : [`${role === "user" ? "User" : "Lily"}: ${content}`];
  });
  return said.length === 0 ? "" : [`## Turn ${record.turn}, ${when}`, ...said].join("\n\n");
}
