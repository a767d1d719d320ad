/** How well guessed topic boundaries fit labelled ones; per dialogue, as the published tables count. */

/** Whether each message of a dialogue begins a topic. The first message never counts. */
export type Starts = readonly boolean[];

/** How guesses and labels meet, counted over messages. */
export interface Counts {
  readonly hits: number;
  readonly falseAlarms: number;
  readonly misses: number;
}

/** Counts hits, false alarms and misses of one dialogue. */
export function countBoundaries(labels: Starts, guesses: Starts): Counts {
  const places = labels.map((label, index) => ({ label, guess: guesses[index] === true })).slice(1);
  const count = (label: boolean, guess: boolean) =>
    places.filter((place) => place.label === label && place.guess === guess).length;
  return { hits: count(true, true), falseAlarms: count(false, true), misses: count(true, false) };
}

/** Sums counts of many dialogues. */
export function sumCounts(all: readonly Counts[]): Counts {
  const sum = (key: keyof Counts) => all.reduce((total, counts) => total + counts[key], 0);
  return { hits: sum("hits"), falseAlarms: sum("falseAlarms"), misses: sum("misses") };
}

/** Share of the guesses that are right; `NaN` without a guess. */
export function precision({ hits, falseAlarms }: Counts): number {
  return hits / (hits + falseAlarms);
}

/** Share of the boundaries that are guessed; `NaN` without a boundary. */
export function recall({ hits, misses }: Counts): number {
  return hits / (hits + misses);
}

/** F1 of the boundary class; 0 where nothing is hit. */
export function f1({ hits, falseAlarms, misses }: Counts): number {
  return hits === 0 ? 0 : (2 * hits) / (2 * hits + falseAlarms + misses);
}

/** Width of the window of {@link windowDiff}: half a topic, at least 2. */
export function windowSize(labels: Starts): number {
  const topics = 1 + labels.slice(1).filter(Boolean).length;
  return Math.max(2, roundHalfEven(labels.length / topics / 2));
}

/** As Python rounds, which the published numbers were made with. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/**
 * WindowDiff (Pevzner and Hearst 2002, nltk's count): the share of windows of `k` messages in which labels and guesses
 * differ in their number of boundaries. 0 is perfect. A dialogue shorter than the window has one window.
 */
export function windowDiff(labels: Starts, guesses: Starts, k = windowSize(labels)): number {
  // A boundary is marked at the last message of a topic, as in nltk's strings.
  const ends = (starts: Starts) => starts.map((_, index) => Number(starts[index + 1] === true));
  const [labelled, guessed] = [ends(labels), ends(guesses)];
  const windows = Math.max(1, labels.length - k + 1);
  const boundaries = (marks: readonly number[], from: number) =>
    marks.slice(from, from + k).reduce((sum, mark) => sum + mark, 0);
  let differing = 0;
  for (let from = 0; from < windows; from += 1)
    differing += Number(boundaries(labelled, from) !== boundaries(guessed, from));
  return differing / windows;
}

/** Mean of the numbers; 0 of none. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
