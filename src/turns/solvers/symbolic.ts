/** The answer without a model: quotes what shares words with the question, newest first, and says where it stands. */
import {
  areAlike,
  asksSomething,
  isQuestion,
  sentencesOf,
  stemsOf,
  STOP_WORDS,
  wordsOf,
} from "#src/kernel/words.ts";
import { fromInstant, localDay, localTime } from "#src/kernel/clock.ts";
import { placeOf, type HeldUnit } from "#src/sessions/knowledge-units.ts";
import type { AnswerSource, TurnRecord } from "#src/sessions/turn-record.ts";
import { citationOf, EVIDENCE_LABEL } from "#memory/evidence/evidence-item.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-book.ts";
import { quoteOf } from "#memory/evidence/quote.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";

/** What the user is told once when no model is configured. */
export const NO_MODEL_NOTICE =
  "No model is configured, so Lily can only quote what this conversation says. To set one, put OPENAI_API_KEY, or " +
  "OPENAI_BASE_URL for a local server (Ollama, vLLM, LM Studio), into .env and start again.";

/** What is asked, and all that may answer it. */
export interface SymbolicGoal {
  readonly text: string;
  /** Committed turns of the conversation, oldest first. */
  readonly turns: readonly TurnRecord[];
  /** The session that asks, to tell its own turns from those it continues. */
  readonly sessionId: string;
  readonly timeZone: string;
  /** What was noted of the conversation, of turns that are not looked through as well, and from elsewhere. */
  readonly units?: readonly HeldUnit[] | undefined;
  /** All remembered facts that hold, newest first by domain. */
  readonly memories?: readonly MemoryRecord[];
  /** Passages of documents that fit what was asked, best first. */
  readonly evidence?: readonly FoundEvidence[];
}

/** The answer, and what it rests on, in the order in which it is quoted. */
export interface SymbolicAnswer {
  readonly text: string;
  readonly sources: readonly AnswerSource[];
}

/** Longest quote, in UTF-16 code units. */
const MAX_QUOTE = 600;
/** Most quotes; of more that fit their number is told. */
const MAX_QUOTES = 10;
/** What shares so much of what the best shares with the question fits as well; what was said later needs less to be told. */
const FITS_AS_WELL = 0.5;
const LATER_FITS = 0.25;

/** With less than this share of what is asked something is said only in part, and with less than that nothing supports an answer. */
const SAYS_IT = 0.6;
const SUPPORTS = 0.34;

/** Something that was said or kept. */
interface Statement {
  readonly text: string;
  /** What it is about, in other words than its own. */
  readonly topic?: string;
  readonly at: string;
  /** Who said it, where and when. */
  readonly origin: string;
  readonly source: AnswerSource;
}

/**
 * Answers a question by quoting all that fits equally well, and what was said later about the same words, newest first.
 * Evidence is quoted where neither the conversation nor memory supports an answer. Where nothing does, that is said, and what
 * comes nearest. What asks nothing is noted.
 */
export function solveSymbolically(goal: SymbolicGoal): SymbolicAnswer {
  if (!asksSomething(goal.text))
    return { text: "Noted. Ask me about it any time in this conversation.", sources: [] };
  const { fitting, share } = fittingFor(goal);
  const evidence = share < SUPPORTS ? quoteEvidence(goal) : undefined;
  if (evidence !== undefined || fitting.length === 0)
    return evidence ?? { text: nothingFound(goal), sources: [] };
  const quoted = fitting.slice(0, MAX_QUOTES).toSorted(byNewest);
  const text = quotes(quoted, fitting.length, goal);
  const separator = text.startsWith("- ") ? "\n" : " ";
  return {
    text: share >= SAYS_IT ? text : `${share < SUPPORTS ? NEAREST : IN_PART}${separator}${text}`,
    sources: quoted.map(({ source }) => source),
  };
}

const NEAREST = "I don't have that. What comes nearest:";
const IN_PART = "Not in so many words; what comes nearest:";

/** What fits, the best first and among equals the newest; and how much of what is asked the best has. */
interface Fitting {
  readonly fitting: readonly Statement[];
  readonly share: number;
}

function fittingFor(goal: SymbolicGoal): Fitting {
  const asked = [...new Set(stemsOf(goal.text))];
  const said = goal.turns.flatMap((turn) => saidIn(turn, goal)).toReversed();
  const statements = [...said, ...notedIn(goal), ...keptIn(goal)].toSorted(byNewest);
  const shared = statements.map(({ topic = "", text }) => termsShared(asked, `${topic} ${text}`));
  const weights = asked.map((_term, at) => {
    const holders = shared.filter((terms) => terms.includes(at)).length;
    return Math.log(1 + statements.length / Math.max(1, holders));
  });
  const fits = shared.map((terms) => terms.reduce((sum, at) => sum + (weights[at] ?? 0), 0));
  const best = Math.max(0, ...fits);
  if (best === 0) return { fitting: [], share: 0 };
  const newestBest = fits.indexOf(best);
  const fitting = statements
    .map((statement, at) => ({ statement, fit: (fits[at] ?? 0) / best, isLater: at < newestBest }))
    .filter(({ fit, isLater }) => fit >= (isLater ? LATER_FITS : FITS_AS_WELL))
    .sort((a, b) => b.fit - a.fit)
    .map(({ statement }) => statement);
  return { fitting, share: best / weights.reduce((sum, weight) => sum + weight, 0) };
}

/** Which of the terms, by their places, `text` has in some form. */
function termsShared(terms: readonly string[], text: string): number[] {
  const own = [...new Set(stemsOf(text))];
  return terms.flatMap((term, at) => (own.some((other) => areAlike(term, other)) ? [at] : []));
}

function byNewest(a: Statement, b: Statement): number {
  return fromInstant(b.at) - fromInstant(a.at);
}

type Place = Pick<SymbolicGoal, "sessionId" | "timeZone">;

/** What the user stated in a turn, or what a recall brought in. Questions state nothing, nor do other commands. */
function saidIn(turn: TurnRecord, { sessionId, timeZone }: Place): Statement[] {
  const isRecall = turn.kind === "command" && turn.explanation.recalled !== undefined;
  if (turn.kind === "command" && !isRecall) return [];
  const where = `turn ${turn.turn}${turn.sessionId === sessionId ? "" : " of an earlier session"}`;
  const when = localTime(turn.at, timeZone);
  return turn.messages
    .filter(({ role }) => role === (isRecall ? "assistant" : "user"))
    .map(({ content }) => stated(isRecall ? usersWords(content) : content))
    .filter((text) => text !== "")
    .map((text) => ({
      text,
      at: turn.at,
      origin: isRecall ? `Recalled in ${where}` : `You said in ${where} (${when})`,
      source: { kind: "turn", sessionId: turn.sessionId, turn: turn.turn },
    }));
}

/** Units that say more than the turns that are looked through. */
function notedIn({ units = [], turns, sessionId: own, timeZone }: SymbolicGoal): Statement[] {
  const times = new Map(turns.map(({ sessionId, turn, at }) => [`${sessionId}/${turn}`, at]));
  return units.flatMap((unit) => {
    const { topic, claim, role, sessionId = own, turn } = unit;
    const at = times.get(`${sessionId}/${turn}`);
    if (role === "Statement" && unit.id === undefined && at !== undefined) return [];
    const where = `turn ${turn}${sessionId === own ? "" : " of an earlier session"}`;
    const when = at === undefined ? "" : ` (${localTime(at, timeZone)})`;
    return [
      {
        text: claim,
        topic,
        at: at ?? LONG_AGO,
        origin: `Noted in ${where}${when}`,
        source: { kind: "unit" as const, ...placeOf(unit) },
      },
    ];
  });
}

/** The time of what was said before all that is looked through. */
const LONG_AGO = "1970-01-01T00:00:00.000Z";

function keptIn({ memories = [], timeZone }: Pick<SymbolicGoal, "memories"> & Place): Statement[] {
  return memories.map(({ id, text, created_at, said_by }) => ({
    text,
    at: created_at,
    origin: `${said_by === "owner" ? "You asked me to remember" : `Noted by ${said_by}`} (${localTime(created_at, timeZone)}, ${shortId(id)})`,
    source: { kind: "fact", id },
  }));
}

/** What the user had said, of the text that a recall brought in. */
function usersWords(recalled: string): string {
  return Array.from(recalled.matchAll(/^User: (.*)$/gmu), ([, words]) => words ?? "").join("\n");
}

/** The sentences of a text that ask nothing. */
function stated(text: string): string {
  return sentencesOf(text)
    .filter((sentence) => !isQuestion(sentence))
    .join(" ");
}

function quotes(quoted: readonly Statement[], count: number, { text }: SymbolicGoal): string {
  const lines = quoted.map(
    (one) => `${one.origin}: “${quoteOf({ text: one.text, headings: [] }, text, MAX_QUOTE)}”`,
  );
  if (lines.length === 1) return lines.join("");
  const more = count - quoted.length;
  const rest = more === 0 ? "" : `\nAnd ${more} more that fit as well: /recall and /memory show find them.`;
  return `${lines.map((line) => `- ${line}`).join("\n")}${rest}`;
}

function quoteEvidence({ evidence = [], text, timeZone }: SymbolicGoal): SymbolicAnswer | undefined {
  const [best] = evidence;
  if (best === undefined) return undefined;
  const { piece, source } = best;
  const warning = piece.warning === null ? "" : "; it reads like an instruction, which is not followed";
  const given = `given ${localDay(source.ingested_at, timeZone)}; ${EVIDENCE_LABEL}${warning}`;
  return {
    text: `${citationOf(best)} (${given}): “${quoteOf(piece, text, MAX_QUOTE)}”`,
    sources: [{ kind: "evidence", sourceId: source.id, version: piece.version, piece: piece.index }],
  };
}

function nothingFound({ text, memories = [] }: SymbolicGoal): string {
  const about = wordsOf(text).filter((word) => !STOP_WORDS.has(word));
  const topic = about.length === 0 ? "that" : about.slice(0, 5).join(", ");
  return `I don't have that. Nothing that was said here, is remembered or was given as a document says anything about ${topic}. /recall <words> looks in earlier conversations${memories.length === 0 ? "" : "; /memory show lists what is remembered"}.`;
}
