/** Vectors of questions: a person waits for them, so an embedder that fails or is slow is left alone for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "@langchain/langgraph-checkpoint";
import type { Clock } from "#src/kernel/clock.ts";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import { embedTexts, type Embedder } from "./embedder.ts";

/** The vector of a question; `undefined` when there is none in time. Never throws. */
export type QueryVectors = (text: string) => Promise<Float32Array | undefined>;

/** Longest wait for a vector; then the question is asked by its words alone. */
const DEADLINE_MS = 3_000;

/** Time after a failure in which the embedder is not asked. */
const REST_MS = 30_000;

/** A page of an answer asks the same question again; more than a few are not asked in a row. */
const REMEMBERED = 32;

/** What follows is no question any more, and embedders have small windows. */
const MAX_CHARACTERS = 4_000;

/** Vectors of questions, by their text. */
export type Questions = ReadonlyMap<string, Float32Array>;

/**
 * Vectors of the questions among operations. Made before a transaction: nothing waits for an embedder in one.
 *
 * @param hasAny whether there is a vector to compare them with; asked only where something is asked
 */
export async function vectorsOfQuestions(
  operations: readonly Operation[],
  vectorOf: QueryVectors,
  hasAny: () => Promise<boolean>,
): Promise<Questions> {
  const texts = operations.flatMap((operation) =>
    "namespacePrefix" in operation && operation.query !== undefined ? [operation.query] : [],
  );
  const vectors = new Map<string, Float32Array>();
  if (texts.length === 0 || !(await hasAny())) return vectors;
  for (const text of new Set(texts)) {
    const vector = await vectorOf(text);
    if (vector !== undefined) vectors.set(text, vector);
  }
  return vectors;
}

/** Makes the source of vectors of questions. */
export function createQueryVectors(
  embedder: Embedder,
  { clock }: { readonly clock: Pick<Clock, "now"> },
): QueryVectors {
  // Promises, because one question asks in several places at once.
  const known = new Map<string, Promise<Float32Array | undefined>>();
  let restsUntil = -Infinity;
  const ask = async (text: string): Promise<Float32Array | undefined> => {
    const vector = await inTime(embedTexts(embedder, [text])).catch(() => undefined);
    if (vector === undefined) {
      known.delete(text);
      restsUntil = clock.now() + REST_MS;
    }
    return vector;
  };
  return async (question) => {
    const text = question.slice(0, MAX_CHARACTERS).trim().toWellFormed();
    if (text === "" || (!known.has(text) && clock.now() < restsUntil)) return undefined;
    const asked = known.get(text) ?? ask(text);
    keepNewest(known, [text, asked], REMEMBERED);
    return asked;
  };
}

async function inTime(asked: Promise<Float32Array[]>): Promise<Float32Array | undefined> {
  const answered = new AbortController();
  const late = sleep(DEADLINE_MS, undefined, { signal: answered.signal }).catch(() => undefined);
  try {
    return (await Promise.race([asked, late]))?.[0];
  } finally {
    answered.abort();
  }
}
