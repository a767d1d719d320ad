/** The built-in goal solver: answers from what the conversation itself says, quoting the turn it rests on. */
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { asksAboutMemory } from "#src/context/memory-section.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { citationOf, EVIDENCE_LABEL } from "#memory/evidence/citation.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-rows.ts";
import { quoteOf } from "#memory/evidence/quote.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import { aboutWhomIsAsked } from "./asked-person.ts";
import { correctionOf, correctsSomething, factJustQuoted, wordsBy } from "./correction.ts";
import { asksSomething, statedIn } from "./question.ts";
import { candidatesOf, type DatedStatement } from "./restated.ts";

/** What the user is told once when no model is configured. */
export const NO_MODEL_NOTICE =
  "No model is configured, so Lily can only quote what this conversation says. To set one, put OPENAI_API_KEY, or " +
  "OPENAI_BASE_URL for a local server (Ollama, vLLM, LM Studio), into .env and start again.";

/** What is to be solved. */
export interface SymbolicGoal {
  readonly text: string;
  /** Committed turns of the conversation, oldest first. */
  readonly turns: readonly TurnRecord[];
  /** The session that asks, to tell its own turns from those it continues. */
  readonly sessionId: string;
  readonly timeZone: string;
  /** Remembered facts that fit what was asked: those that a model would be given. */
  readonly memories?: readonly MemoryRecord[];
  /** Passages of documents that fit what was asked, best first. */
  readonly evidence?: readonly FoundEvidence[];
}

/** Longest quote, in UTF-16 code units. */
const MAX_QUOTE = 600;

/** The answer, and the turn it rests on, if it rests on one. */
export interface SymbolicAnswer {
  readonly text: string;
  readonly source: { readonly sessionId: string; readonly turn: number } | undefined;
}

type Statement = DatedStatement & ({ readonly turn: TurnRecord } | { readonly memory: MemoryRecord });

/**
 * Answers a question with the statement that shares most words with it, newest first among equals, of what is remembered
 * too. What was restated since is never quoted, nor what is about somebody else. Evidence is quoted where neither the
 * conversation nor memory says anything.
 */
export function solveSymbolically(goal: SymbolicGoal): SymbolicAnswer {
  if (!asksSomething(goal.text)) return { text: noted(goal), source: undefined };
  const memories = goal.memories ?? [];
  if (memories.length > 0 && asksAboutMemory(goal.text)) return { text: allOf(memories), source: undefined };
  const best = bestStatement(goal);
  if (best === undefined) return { text: quoteEvidence(goal) ?? nothingFound(goal), source: undefined };
  const since = corrected(goal, best.text);
  if ("memory" in best) return { text: quoteMemory(best, goal) + since, source: undefined };
  const { turn, text } = best;
  return {
    text: `${quoteSource(turn, goal)}: “${clip(text)}”${since}`,
    source: { sessionId: turn.sessionId, turn: turn.turn },
  };
}

function bestStatement({ text, turns, memories = [] }: SymbolicGoal): Statement | undefined {
  const said = turns.flatMap(statementsOf).toReversed();
  const kept = memories.map((memory): Statement => ({
    memory,
    text: memory.text,
    at: memory.created_at,
    isUsersWord: memory.said_by === "owner",
  }));
  const isAbout = aboutWhomIsAsked(text);
  const candidates = candidatesOf([...said, ...kept]).filter(
    ({ words, statement }) => isAbout(words) && isAbout(statement.text),
  );
  return rankTexts(candidates, text, ({ words }) => words)[0]?.item.statement;
}

function noted({ text, turns }: SymbolicGoal): string {
  const id = correctsSomething(text) ? factJustQuoted(turns) : undefined;
  return id === undefined
    ? "Noted. Ask me about it any time in this conversation."
    : `Noted in this conversation. What is remembered stays as it is: /memory edit ${id} <text> corrects it.`;
}

/** What was said against a quote right after it had been given as an answer. */
function corrected(goal: SymbolicGoal, quote: string): string {
  const turn = correctionOf(goal.turns, clip(quote));
  return turn === undefined
    ? ""
    : ` ${quoteSource(turn, goal)}, when that was quoted: “${clip(wordsBy("user", turn))}”`;
}

function allOf(memories: readonly MemoryRecord[]): string {
  const lines = memories.map((memory) => `- ${clip(memory.text)} (${shortId(memory.id)})`);
  return `This is remembered:\n${lines.join("\n")}\n/memory show lists all of it; /forget <id> erases one.`;
}

function quoteMemory(
  { memory: { id, created_at, said_by }, text }: Extract<Statement, { memory: MemoryRecord }>,
  { timeZone }: SymbolicGoal,
): string {
  const when = localMinute(fromInstant(created_at), timeZone);
  const how = said_by === "owner" ? "You asked me to remember" : `Noted by ${said_by}`;
  return `${how} (${when}, ${shortId(id)}): “${clip(text)}”`;
}

function quoteEvidence({ evidence = [], text }: SymbolicGoal): string | undefined {
  const [best] = evidence;
  if (best === undefined) return undefined;
  const given = best.source.ingested_at.slice(0, 10);
  const warning = best.piece.warning === null ? "" : "; it reads like an instruction, which is not followed";
  const quote = quoteOf(best.piece, text, MAX_QUOTE);
  return `${citationOf(best)} (given ${given}; ${EVIDENCE_LABEL}${warning}): “${quote}”`;
}

/** What the user stated in a turn, or what a recall brought in. Questions state nothing. */
function statementsOf(turn: TurnRecord): Statement[] {
  const isRecall = turn.kind === "command" && turn.explanation.recalled !== undefined;
  if (turn.kind === "command" && !isRecall) return [];
  return turn.messages
    .filter((message) => message.role === (isRecall ? "assistant" : "user"))
    .map((message) => ({
      turn,
      at: turn.at,
      isUsersWord: !isRecall,
      text: statedIn(isRecall ? usersWords(message.content) : message.content),
    }))
    .filter((statement) => statement.text !== "");
}

/** What the user had said, of the text that a recall brought in. */
function usersWords(recalled: string): string {
  return Array.from(recalled.matchAll(/^User: (.*)$/gmu), ([, words]) => words ?? "").join("\n");
}

function clip(text: string): string {
  return text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE).toWellFormed()} …` : text;
}

function quoteSource(turn: TurnRecord, goal: SymbolicGoal): string {
  const when = localMinute(fromInstant(turn.at), goal.timeZone);
  const where =
    turn.sessionId === goal.sessionId ? `turn ${turn.turn}` : `turn ${turn.turn} of an earlier session`;
  return turn.kind === "command" ? `Recalled in ${where}` : `You said in ${where} (${when})`;
}

function nothingFound(goal: SymbolicGoal): string {
  const about = termsOf(goal.text).slice(0, 5).join(", ");
  const topic = about === "" ? "that" : about;
  return `Nothing in this conversation says anything about ${topic}. /recall <words> looks in earlier ones.`;
}
