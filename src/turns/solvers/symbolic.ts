/** The built-in goal solver: answers from what the conversation itself says, quoting the turn it rests on. */
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { asksAboutMemory } from "#src/context/memory-section.ts";
import type { AnswerSource, TurnRecord } from "#src/sessions/turn-record.ts";
import { citationOf, EVIDENCE_LABEL } from "#memory/evidence/citation.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-rows.ts";
import { quoteOf } from "#memory/evidence/quote.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import { aboutWhomIsAsked } from "./asked-person.ts";
import { answerTo, besidesOf } from "./asked-statement.ts";
import { correctionBehind, correctionOf, correctsSomething, factJustQuoted, wordsBy } from "./correction.ts";
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

/** The answer, and what it rests on: one source, or several where several say otherwise about the same. */
export interface SymbolicAnswer {
  readonly text: string;
  readonly sources: readonly AnswerSource[];
}

type Statement = DatedStatement & ({ readonly turn: TurnRecord } | { readonly memory: MemoryRecord });

/**
 * Answers a question with the newest statement of what it asks for, else with the one that shares most words with it, of
 * what is remembered too. What was restated since is never quoted, nor what is about somebody else; what may disagree is
 * quoted with it. Evidence is quoted where neither the conversation nor memory says anything.
 */
export function solveSymbolically(goal: SymbolicGoal): SymbolicAnswer {
  if (!asksSomething(goal.text)) return { text: noted(goal), sources: [] };
  const memories = goal.memories ?? [];
  if (memories.length > 0 && asksAboutMemory(goal.text))
    return { text: allOf(memories), sources: memories.map(({ id }) => ({ kind: "fact", id })) };
  const [best, ...others] = statementsFor(goal);
  if (best === undefined) return quoteEvidence(goal) ?? { text: nothingFound(goal), sources: [] };
  const besides = others.map((other) => ` Besides: ${quoteOfStatement(other, goal)}`).join("");
  return {
    text: `${quoteOfStatement(best, goal)}${corrected(goal, best)}${besides}`,
    sources: [best, ...others].map(sourceOf),
  };
}

/** The statement that answers, and behind it those that may say otherwise about the same. */
function statementsFor({ text, turns, memories = [] }: SymbolicGoal): Statement[] {
  const said = turns.flatMap(statementsOf).toReversed();
  const kept = memories.map((memory): Statement => ({
    memory,
    text: memory.text,
    at: memory.created_at,
    isUsersWord: memory.said_by === "owner",
  }));
  const all = candidatesOf([...said, ...kept]);
  const isAbout = aboutWhomIsAsked(text);
  const fitting = all.filter(({ words, statement }) => isAbout(words) && isAbout(statement.text));
  const best = answerTo(text, all) ?? rankTexts(fitting, text, ({ words }) => words)[0]?.item;
  return best === undefined ? [] : [best.statement, ...besidesOf(best, all)];
}

function noted({ text, turns }: SymbolicGoal): string {
  const id = correctsSomething(text) ? factJustQuoted(turns) : undefined;
  return id === undefined
    ? "Noted. Ask me about it any time in this conversation."
    : `Noted in this conversation. What is remembered stays as it is: /memory edit ${id} <text> corrects it.`;
}

/** What was said against a quote right after it had been given as an answer, or right after it was said. */
function corrected(goal: SymbolicGoal, best: Statement): string {
  const answered = correctionOf(goal.turns, clip(best.text));
  if (answered !== undefined)
    return ` ${quoteSource(answered, goal)}, when that was quoted: “${clip(wordsBy("user", answered))}”`;
  const behind = "turn" in best ? correctionBehind(goal.turns, best.turn) : undefined;
  return behind === undefined
    ? ""
    : ` ${quoteSource(behind, goal)}, right behind it: “${clip(wordsBy("user", behind))}”`;
}

function quoteOfStatement(statement: Statement, goal: SymbolicGoal): string {
  return "memory" in statement
    ? quoteMemory(statement, goal)
    : `${quoteSource(statement.turn, goal)}: “${clip(statement.text)}”`;
}

function sourceOf(statement: Statement): AnswerSource {
  return "memory" in statement
    ? { kind: "fact", id: statement.memory.id }
    : { kind: "turn", sessionId: statement.turn.sessionId, turn: statement.turn.turn };
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

function quoteEvidence({ evidence = [], text }: SymbolicGoal): SymbolicAnswer | undefined {
  const [best] = evidence;
  if (best === undefined) return undefined;
  const given = best.source.ingested_at.slice(0, 10);
  const warning = best.piece.warning === null ? "" : "; it reads like an instruction, which is not followed";
  const quote = quoteOf(best.piece, text, MAX_QUOTE);
  return {
    text: `${citationOf(best)} (given ${given}; ${EVIDENCE_LABEL}${warning}): “${quote}”`,
    sources: [
      { kind: "evidence", sourceId: best.source.id, version: best.piece.version, piece: best.piece.index },
    ],
  };
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
