/**
 * The evaluation of evidence, by store: how often the passage that answers comes first, and among the three that a model is
 * given, and whether nothing is given where nothing answers.
 */
import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import Table from "cli-table3";
import { z } from "zod";
import { createManualClock } from "#src/kernel/clock.ts";
import { choosePassages, fittingEvidence } from "#src/context/found-sections.ts";
import { createEvidenceBook, type EvidenceBook, type FoundEvidence } from "#memory/evidence/evidence-book.ts";
import { nameOf } from "#memory/evidence/evidence-item.ts";
import { indexFieldsOf } from "#memory/namespaces.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { readLines } from "#evals/data/read-lines.ts";

/** Documents, and questions: the document and words that answer, or null where no passage may be given. */
export const DOCUMENTS = readLines(
  "evidence/documents.jsonl",
  z.object({ id: z.string(), text: z.string() }),
);
export const QUESTIONS = readLines(
  "evidence/questions.jsonl",
  z.object({
    id: z.string(),
    text: z.string(),
    expected: z.object({ document: z.string(), says: z.string() }).nullable(),
  }),
);
type EvidenceQuestion = (typeof QUESTIONS)[number];

/** What the questions came to; shares are from 0 to 1. */
interface EvidenceMeasure {
  readonly questions: number;
  /** The passage that answers is the first. */
  readonly first: number;
  /** It is among those that a model is given. */
  readonly given: number;
  /** Of the questions that nothing answers, those for which nothing is given. */
  readonly silent: number;
  readonly misses: readonly string[];
}

const WHO = { owner: "eval" };
const GIVEN = 3;
const CANDIDATES = 12;
const BUDGET_TOKENS = 1_200;

/** Takes the documents into `store` and asks the questions. */
export async function measureEvidence(store: BaseStore): Promise<EvidenceMeasure> {
  const book = createEvidenceBook(store, { clock: createManualClock(0), scan: async () => [] });
  for (const { id, text } of DOCUMENTS)
    await book.ingest(WHO, { path: `/eval/${id}`, bytes: Buffer.from(text) });
  const answered = await Promise.all(QUESTIONS.map((question) => ask(book, question)));
  const asked = answered.filter(({ place }) => place !== "silent" && place !== "in vain");
  const vain = answered.filter(({ place }) => place === "silent" || place === "in vain");
  const share = (places: readonly string[], of: typeof answered) =>
    of.filter(({ place }) => places.includes(place)).length / of.length;
  return {
    questions: QUESTIONS.length,
    first: share(["first"], asked),
    given: share(["first", "given"], asked),
    silent: share(["silent"], vain),
    misses: answered.flatMap(({ question, place }) =>
      place === "missed" || place === "in vain" ? [`${place}: ${question.text}`] : [],
    ),
  };
}

type Place = "first" | "given" | "missed" | "silent" | "in vain";

async function ask(
  book: EvidenceBook,
  question: EvidenceQuestion,
): Promise<{ question: EvidenceQuestion; place: Place }> {
  const found = fittingEvidence(await book.search(WHO, question.text, CANDIDATES), question.text);
  const given = choosePassages(found.slice(0, GIVEN), BUDGET_TOKENS, "UTC");
  const { expected: answer } = question;
  if (answer === null) return { question, place: given.length === 0 ? "silent" : "in vain" };
  const at = given.findIndex((one) => answers(one, answer));
  if (at === 0) return { question, place: "first" };
  return { question, place: at < 0 ? "missed" : "given" };
}

function answers(
  { source, piece }: FoundEvidence,
  answer: NonNullable<EvidenceQuestion["expected"]>,
): boolean {
  return nameOf(source) === answer.document && piece.text.replaceAll(/\s+/gu, " ").includes(answer.says);
}

/** Below these the search is not good enough. */
const LEAST = { first: 0.85, given: 0.95, silent: 1 };

/** The stores: one that ranks, and one for which the book ranks. */
export const EVIDENCE_STORES: readonly (readonly [string, () => BaseStore])[] = [
  ["SqliteStore", sqliteStore],
  ["InMemoryStore", () => new InMemoryStore()],
];

function sqliteStore(): BaseStore {
  return new SqliteStore(openDatabase(":memory:"), {
    clock: createManualClock(0),
    index: { fields: indexFieldsOf },
  });
}

/** Whether a measure is good enough. */
export function isGoodEnough({ first, given, silent }: EvidenceMeasure): boolean {
  return first >= LEAST.first && given >= LEAST.given && silent >= LEAST.silent;
}

/** Runs the questions. @returns the exit code: 1 when a store is below the mark */
export async function runEvidenceEval(args: readonly string[], out: (text: string) => void): Promise<number> {
  const measures: (readonly [string, EvidenceMeasure])[] = [];
  for (const [name, makeStore] of EVIDENCE_STORES) measures.push([name, await measureEvidence(makeStore())]);
  out(args.includes("--json") ? JSON.stringify(Object.fromEntries(measures), null, 2) : reportOf(measures));
  return measures.every(([, measure]) => isGoodEnough(measure)) ? 0 : 1;
}

function reportOf(measures: readonly (readonly [string, EvidenceMeasure])[]): string {
  const table = new Table({
    head: ["store", "questions", "answer first", "answer given", "silent where nothing answers"],
    style: { head: [], border: [], compact: true },
  });
  for (const [name, { questions, first, given, silent }] of measures)
    table.push([name, questions, first.toFixed(2), given.toFixed(2), silent.toFixed(2)]);
  const misses = measures.flatMap(([name, measure]) => measure.misses.map((miss) => `${name}: ${miss}`));
  return [table.toString(), ...misses].join("\n");
}
