/** The records and questions of the store benchmark: made up, the same on every machine. */

/** Numbers of a vector. */
const DIMENSIONS = 384;

/** A record as it is put. */
export interface BenchRecord {
  readonly namespace: string[];
  readonly key: string;
  readonly value: { readonly text: string; readonly kind: string; readonly turn: number };
}

const DOMAINS = ["persona", "profile", "rules", "tasks"];

/** The owner of four records in five; the others belong to twenty more. */
export const OWNER = "ada";

/** Words of a person's texts: a few are everywhere, most are rare (Zipf). */
const VOCABULARY = 20_000;

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Record number `index`: 14 to 30 words, one of ten kinds, and one in a thousand `rare`. */
export function benchRecord(index: number): BenchRecord {
  const random = randomFrom(index * 7919 + 1);
  const owner = index % 5 === 4 ? `other${index % 20}` : OWNER;
  const domain = DOMAINS[index % DOMAINS.length] ?? "profile";
  const length = 14 + Math.floor(random() * 17);
  const words = Array.from({ length }, () => wordOf(random()));
  return {
    namespace: ["memory", owner, domain],
    key: `record-${index}`,
    value: {
      text: `${words.join(" ")} number ${index}`,
      kind: index % 1000 === 8 ? "rare" : `kind${index % 10}`,
      turn: index,
    },
  };
}

/** A question of five words; the fifty most frequent, in 5 to 90 % of all records, stand for stop words and are not asked. */
export function benchQuestion(index: number): string {
  const random = randomFrom(index * 104_729 + 5);
  const words = Array.from({ length: 5 }, () => wordOf(0.4 + random() * 0.6));
  return `What did I say about ${words.join(" ")}?`;
}

// With the rank as a power of the vocabulary, the chance of a rank is proportional to 1/rank.
function wordOf(share: number): string {
  return wordAt(Math.floor(VOCABULARY ** share));
}

const SYLLABLES = [
  "ba",
  "ce",
  "di",
  "fo",
  "gu",
  "ha",
  "je",
  "ki",
  "lo",
  "mu",
  "na",
  "pe",
  "ri",
  "so",
  "tu",
  "va",
];

function wordAt(rank: number): string {
  let rest = rank;
  let word = "";
  do {
    word += SYLLABLES[rest % SYLLABLES.length] ?? "";
    rest = Math.floor(rest / SYLLABLES.length);
  } while (rest > 0);
  return `${word}n`;
}

/**
 * The vector of record `index`. Records fall into topics of about fifty and those into ten fields, so that neighbours
 * are as close as texts of one topic are in models (cosine about 0.6), and each has something of its own.
 */
export function benchVector(index: number, records: number): Float32Array {
  const topics = Math.max(10, Math.floor(records / 50));
  const topic = index % topics;
  const own = randomFrom(index * 31 + 17);
  return sumOf(
    [direction(1_000_000 + (topic % 10)), direction(2_000_000 + topic), () => normal(own)],
    [0.4, 0.7, 0.6],
  );
}

/** The vector of question `index`: near a record that it is about. */
export function questionVector(index: number, records: number): Float32Array {
  const near = benchVector((index * 7907) % records, records);
  const random = randomFrom(index * 13 + 3);
  return near.map((component) => component + 0.4 * normal(random));
}

function direction(seed: number): () => number {
  const random = randomFrom(seed);
  return () => normal(random);
}

function sumOf(parts: readonly (() => number)[], weights: readonly number[]): Float32Array {
  return Float32Array.from({ length: DIMENSIONS }, () =>
    parts.reduce((sum, part, at) => sum + (weights[at] ?? 0) * part(), 0),
  );
}

// The sum of four evenly spread numbers is near enough to a normal one, of deviation 1.
function normal(random: () => number): number {
  return (random() + random() + random() + random() - 2) * Math.sqrt(3);
}
