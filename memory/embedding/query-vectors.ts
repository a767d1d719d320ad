/** Vectors of questions: a person waits for them, so an embedder that fails or is slow is left alone for a while. */
import type { Clock } from "#src/kernel/clock.ts";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import { embedTexts, type Embedder } from "./embedder.ts";

/** How long {@link createQueryVectors} waits and rests. */
export interface QueryVectorOptions {
  readonly clock: Pick<Clock, "now">;
  /** Longest wait for a vector in milliseconds; then the question is asked by its words alone. */
  readonly deadlineMs?: number;
  /** Time after a failure in which the embedder is not asked, in milliseconds. */
  readonly restMs?: number;
}

/** The vector of a question; `undefined` when there is none in time. Never throws. */
export type QueryVectors = (text: string) => Promise<Float32Array | undefined>;

/** A page of an answer asks the same question again; more than a few are not asked in a row. */
const REMEMBERED = 32;

/** What follows is no question any more, and embedders have small windows. */
const MAX_CHARACTERS = 4_000;

/** Makes the source of vectors of questions. */
export function createQueryVectors(embedder: Embedder, options: QueryVectorOptions): QueryVectors {
  const { clock, deadlineMs = 3_000, restMs = 30_000 } = options;
  const known = new Map<string, Float32Array>();
  // One question asks in several places at once.
  const underWay = new Map<string, Promise<Float32Array | undefined>>();
  let restsUntil = -Infinity;
  const ask = async (text: string): Promise<Float32Array | undefined> => {
    const vector = await within(deadlineMs, embedTexts(embedder, [text])).catch(() => undefined);
    underWay.delete(text);
    if (vector === undefined) restsUntil = clock.now() + restMs;
    else keepNewest(known, [text, vector], REMEMBERED);
    return vector;
  };
  return async (question) => {
    const text = question.slice(0, MAX_CHARACTERS).trim().toWellFormed();
    if (text === "") return undefined;
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    if (clock.now() < restsUntil) return undefined;
    const asked = underWay.get(text) ?? ask(text);
    underWay.set(text, asked);
    return asked;
  };
}

/** The first of what `asked` gives; `undefined` when it takes longer. */
async function within(deadlineMs: number, asked: Promise<Float32Array[]>): Promise<Float32Array | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), deadlineMs);
  });
  try {
    const vectors = await Promise.race([asked, late]);
    return vectors?.[0];
  } finally {
    clearTimeout(timer);
  }
}
