/**
 * `npm run eval:topics [-- --train] [-- --json]`: how well the built-in classifier finds changes of topic, beside
 * baselines, on public dialogues that it was not trained on.
 */
import { resolve } from "node:path";
import Table from "cli-table3";
import { z } from "zod";
import { readLines } from "#evals/data/read-lines.ts";
import { classifyTopic, TOPIC_WEIGHTS } from "#src/topics/lexical-topics.ts";
import { readMessage } from "#src/topics/topic-features.ts";
import { dialogueOfTopics, readDialogues, oneSpeaker, DATA_FILES, type Dialogue } from "./dialogues.ts";
import { countBoundaries, f1, mean, precision, recall, sumCounts, windowDiff } from "./metrics.ts";
import { train, writeWeights } from "./train.ts";

const WEIGHTS_FILE = resolve(import.meta.dirname, "../../src/topics/lexical-topics.ts");

/** Messages of one user, a list a topic. The weights have never seen them; `TELLING_WORDS` was read off them. */
const CONVERSATIONS = readLines(
  "topics/conversations.jsonl",
  z.strictObject({ name: z.string(), topics: z.array(z.array(z.string())) }),
);

/** Thresholds of `rollover.semantic.threshold` that are shown; 0.8 is the default. */
const THRESHOLDS = [0.5, 0.6, 0.7, 0.8, 0.9];

/** Says of each message whether it begins a topic, from what was said before it. */
type Guess = (recent: readonly string[], message: string) => boolean;

interface Method {
  readonly name: string;
  readonly guess: Guess;
}

function methods(): Method[] {
  const noOverlap: Guess = (recent, message) => {
    const { shared, words } = readMessage(recent.slice(-3), message);
    return words > 0 && shared === 0;
  };
  const builtIn = (threshold: number): Guess => {
    return (recent, message) => {
      const evidence = classifyTopic({ recent: recent.slice(-6), message });
      return evidence.kind === "shift" && evidence.confidence >= threshold;
    };
  };
  return [
    { name: "no boundary", guess: () => false },
    { name: "no shared word in 3", guess: noOverlap },
    ...THRESHOLDS.map((at) => ({ name: `built-in at ${at.toFixed(1)}`, guess: builtIn(at) })),
  ];
}

interface Row {
  readonly set: string;
  readonly method: string;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  readonly windowDiff: number;
}

function rowOf(set: string, dialogues: readonly Dialogue[], { guess, name }: Method): Row {
  const guessed = dialogues.map(({ messages, starts }) => ({
    starts,
    guesses: messages.map((message, index) => index > 0 && guess(messages.slice(0, index), message)),
  }));
  const each = guessed.map(({ starts, guesses }) => countBoundaries(starts, guesses));
  const counts = sumCounts(each);
  return {
    set,
    method: name,
    precision: precision(counts),
    recall: recall(counts),
    f1: mean(each.map(f1)),
    windowDiff: mean(guessed.map(({ starts, guesses }) => windowDiff(starts, guesses))),
  };
}

/** One speaker's messages of every dialogue: what Lily sees of a conversation. */
const asUser = (dialogues: readonly Dialogue[]): Dialogue[] => dialogues.map((one) => oneSpeaker(one, 0));

function main(args: readonly string[]): number {
  const folder = resolve(process.env["LILY_DATA"] ?? "../shared/data");
  const [tiage, dialseg] = [readDialogues(folder, "tiage"), readDialogues(folder, "dialseg711")];
  if (tiage === undefined || dialseg === undefined) {
    console.error(
      `${folder} has no ${Object.values(DATA_FILES).join(" and ")}; LILY_DATA names another folder.`,
    );
    return 2;
  }
  if (args.includes("--train")) {
    const trained = train(tiage.train, tiage.dev);
    writeWeights(WEIGHTS_FILE, trained);
    console.log(`${WEIGHTS_FILE} written, with the operating point ${trained.operatingPoint.toFixed(2)}`);
    return 0;
  }
  const sets: [string, readonly Dialogue[]][] = [
    ["TIAGE test", tiage.test],
    ["TIAGE test, one speaker", asUser(tiage.test)],
    ["DialSeg711", dialseg.all],
    ["DialSeg711, one speaker", asUser(dialseg.all)],
    ["own conversations", CONVERSATIONS.map(({ topics }) => dialogueOfTopics(topics))],
  ];
  const rows = sets.flatMap(([name, dialogues]) => methods().map((method) => rowOf(name, dialogues, method)));
  console.log(args.includes("--json") ? JSON.stringify(rows, null, 2) : tableOf(rows));
  return 0;
}

function tableOf(rows: readonly Row[]): string {
  const table = new Table({
    head: ["dialogues", "method", "precision", "recall", "F1", "WindowDiff"],
    style: { head: [], border: [], compact: true },
  });
  const shown = (value: number): string => (Number.isNaN(value) ? "–" : value.toFixed(3));
  for (const row of rows)
    table.push([row.set, row.method, ...[row.precision, row.recall, row.f1, row.windowDiff].map(shown)]);
  const point = TOPIC_WEIGHTS.operatingPoint.toFixed(2);
  return (
    `${table.toString()}\nPrecision and recall are over all messages, F1 and WindowDiff means of dialogues (less is ` +
    `better). 0.8 is the operating point, where the weights give ${point}.`
  );
}

process.exitCode = main(process.argv.slice(2));
