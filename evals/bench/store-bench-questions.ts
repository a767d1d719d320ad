/** What is asked in the store benchmark, and an embedder that knows the answer at once. */
import type { Embedder } from "#memory/embedding/embedder.ts";
import { benchQuestion, benchVector, questionVector } from "./store-data.ts";

/** Text of question `index`, from which the embedder knows it again. */
export const questionText = (index: number): string => `${benchQuestion(index)} [${index}]`;

/** Answers at once: what is measured is the store, not a model. */
export function benchEmbedder(records: number): Embedder {
  const vectorOf = (text: string): Float32Array => {
    const question = /\[(\d+)\]$/u.exec(text)?.[1];
    if (question !== undefined) return questionVector(Number(question), records);
    return benchVector(Number(/number (\d+)/u.exec(text)?.[1]), records);
  };
  return { model: "bench:made-up", embed: (texts) => Promise.resolve(texts.map(vectorOf)) };
}
