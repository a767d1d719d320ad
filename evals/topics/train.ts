/** Fits the weights of the built-in classifier on TIAGE's train split and writes them into the source. */
import { readFileSync, writeFileSync } from "node:fs";
import { FEATURE_NAMES, readMessage } from "#src/topics/topic-features.ts";
import { oneSpeaker, type Dialogue } from "./dialogues.ts";
import { fitLogistic, probability, type Example, type LogisticModel } from "./logistic.ts";

/** Operating points that are tried on the dev split. */
const POINTS = Array.from({ length: 41 }, (_, index) => 0.3 + index / 100);

/** Share of the guesses that have to be right; without a model, higher ones are reached by hardly any guess at all. */
const WANTED_PRECISION = 0.62;

/** A point that is hardly ever reached has no precision worth the name. */
const FEWEST_GUESSES = 20;

/** What a training came to. */
export interface Trained {
  readonly model: LogisticModel;
  readonly operatingPoint: number;
}

/** Both speakers' messages in a row, and each speaker's own, as Lily sees a user's: every dialogue is learned from thrice. */
export function train(dialogues: readonly Dialogue[], dev: readonly Dialogue[]): Trained {
  const model = fitLogistic(examplesOf([...dialogues, ...ownMessages(dialogues)]));
  return { model, operatingPoint: mostPrecise(model, examplesOf(ownMessages(dev))) };
}

function ownMessages(dialogues: readonly Dialogue[]): Dialogue[] {
  return dialogues.flatMap((dialogue) => [oneSpeaker(dialogue, 0), oneSpeaker(dialogue, 1)]);
}

function examplesOf(dialogues: readonly Dialogue[]): Example[] {
  return dialogues.flatMap(({ messages, starts }) =>
    messages.slice(1).map((message, index) => {
      const { features } = readMessage(messages.slice(0, index + 1), message);
      return { values: FEATURE_NAMES.map((name) => features[name]), isShift: starts[index + 1] === true };
    }),
  );
}

/** The lowest point from which on {@link WANTED_PRECISION} is reached; the most precise one where none reaches it. */
function mostPrecise(model: LogisticModel, examples: readonly Example[]): number {
  const scored = examples.map((example) => ({ ...example, p: probability(model, example.values) }));
  const precision = (point: number): number => {
    const guesses = scored.filter(({ p }) => p >= point);
    const hits = guesses.filter(({ isShift }) => isShift).length;
    return guesses.length < FEWEST_GUESSES ? 0 : hits / guesses.length;
  };
  const reached = POINTS.find((point) => precision(point) >= WANTED_PRECISION);
  return reached ?? POINTS.reduce((best, point) => (precision(point) > precision(best) ? point : best));
}

/** Writes the numbers into the source of the classifier, each behind its name. */
export function writeWeights(path: string, { model, operatingPoint }: Trained): void {
  const weights = FEATURE_NAMES.map((name, index) => [name, model.weights[index] ?? 0] as const);
  const numbers = [["bias", model.bias], ["operatingPoint", operatingPoint], ...weights] as const;
  const written = numbers.reduce(
    (text, [name, value]) => text.replace(new RegExp(`^( +${name}: )-?[\\d.]+`, "mu"), `$1${rounded(value)}`),
    readFileSync(path, "utf8"),
  );
  writeFileSync(path, written);
}

function rounded(value: number): number {
  return Math.round(1_000 * value) / 1_000;
}
