/** Shows an envelope to a person: a view for each code that has one, message and next step for the others. */
import type { z } from "zod";
import type { Envelope } from "#src/kernel/envelope.ts";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { renderHistory, renderRecall } from "./conversation.ts";
import { evidenceData, renderEvidence, renderSources, sourcesData } from "./evidence-tables.ts";
import { helpData, historyData, recallData, sessionsData, statusData } from "./fields.ts";
import { erasurePreviewData, receiptData, renderErasurePreview, renderReceipt } from "./erasure-tables.ts";
import { wrapped } from "./indent.ts";
import { checkpointsData, memoryData, recordsData, shortMemoryData } from "./memory-fields.ts";
import { renderCheckpoints, renderMemory, renderRecords, renderShortMemory } from "./memory-tables.ts";
import { panel } from "./panel.ts";
import { renderWhy, whyData } from "./why-table.ts";
import { wrapWords } from "./word-wrap.ts";
import { renderHelp, renderSessions, renderStatus } from "./session-tables.ts";

/** A view of an envelope's data; `undefined` when the data is not what the view shows. */
type View = (data: unknown, screen: Screen) => string | undefined;

function view<T>(schema: z.ZodType<T>, render: (data: T, screen: Screen) => string): View {
  return (data, screen) => {
    const parsed = schema.safeParse(data);
    return parsed.success ? render(parsed.data, screen) : undefined;
  };
}

const records = view(recordsData, renderRecords);
const sources = view(sourcesData, renderSources);
const why = view(whyData, renderWhy);

const VIEWS: Readonly<Record<string, View>> = {
  help: view(helpData, renderHelp),
  sessions: view(sessionsData, renderSessions),
  status: view(statusData, renderStatus),
  history: view(historyData, renderHistory),
  recall: view(recallData, renderRecall),
  memory: view(memoryData, renderMemory),
  turn_explained: why,
  failure_explained: why,
  session_explained: why,
  memory_explained: why,
  memory_shown: records,
  memory_ambiguous: records,
  memory_conflicts: records,
  memory_review: records,
  memory_verification_due: records,
  memory_tidied: records,
  memory_erase_preview: view(erasurePreviewData, renderErasurePreview),
  owner_erase_preview: view(erasurePreviewData, renderErasurePreview),
  confirmation_needed: view(erasurePreviewData, renderErasurePreview),
  erased: view(receiptData, renderReceipt),
  erasure_unfinished: view(receiptData, renderReceipt),
  evidence_sources: sources,
  evidence_ambiguous: sources,
  evidence_shown: view(evidenceData, renderEvidence),
  memory_short_shown: view(shortMemoryData, renderShortMemory),
  memory_checkpoints: view(checkpointsData, renderCheckpoints),
};

/** Codes whose view says all that the message says. */
const VIEW_REPLACES_MESSAGE = new Set([
  "recall",
  "turn_explained",
  "failure_explained",
  "session_explained",
  "memory_explained",
]);

/** The envelope of something done, as text of several lines without a line break at its end. */
export function renderEnvelope(envelope: Envelope, screen: Screen): string {
  if (!envelope.ok) return renderFailure(envelope, screen);
  if (envelope.code === "answered") {
    const answer = printable(envelope.message);
    return screen.isTerminal ? wrapWords(answer, screen.columns) : answer;
  }
  const shown = VIEWS[envelope.code]?.(envelope.data, screen) ?? "";
  const message =
    shown !== "" && VIEW_REPLACES_MESSAGE.has(envelope.code) ? "" : wrapped(envelope.message, screen);
  const next = envelope.next === undefined ? "" : screen.paint.dim(wrapped(envelope.next, screen));
  const isTable = shown !== "";
  return [message, shown, next].filter((part) => part !== "").join(isTable ? "\n\n" : "\n");
}

/** What went wrong and what to do about it, with what there is to choose from. */
export function renderFailure(envelope: Envelope, screen: Screen): string {
  const message = screen.isTerminal ? sentence(envelope.message) : envelope.message;
  const paragraphs = [message, ...(envelope.next === undefined ? [] : [envelope.next])];
  const told = panel(paragraphs, screen, { tone: "failure", title: envelope.code });
  const shown = VIEWS[envelope.code]?.(envelope.data, screen) ?? "";
  return shown === "" ? told : `${told}\n${shown}`;
}

/** A message that begins in lower case, as errors do, as a sentence of its own. The name of a file stays as it is. */
function sentence(message: string): string {
  const trimmed = message.trim();
  const begin = trimmed.replace(/^\p{Ll}(?=[\p{L}'’-]*(?:[\s,;]|$))/u, (letter) => letter.toUpperCase());
  return `${begin}${/[.!?…:]$/u.test(trimmed) ? "" : "."}`;
}
