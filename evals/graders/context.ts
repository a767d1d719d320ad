/** Graders of what a model was given. */
import type { ModelMessage } from "#evals/harness/runner.ts";
import { expectThat } from "./expect.ts";

/** One model input. */
export type ModelInput = readonly ModelMessage[];

/** The newest model input. */
export function lastInput(inputs: readonly ModelInput[]): ModelInput {
  const last = inputs.at(-1);
  expectThat(last !== undefined, "the model was never called");
  return last;
}

/** None of `words` is anywhere in the input. */
export function expectModelInputExcludes(input: ModelInput, words: readonly string[]): void {
  for (const word of words) {
    const found = input.find(({ text }) => text.includes(word));
    expectThat(
      found === undefined,
      `the model was given ${JSON.stringify(word)}, in a ${found?.type ?? ""} message: ${found?.text ?? ""}`,
    );
  }
}

/** Each of `words` is in the input, in this order. */
export function expectModelInputIncludes(input: ModelInput, words: readonly string[]): void {
  const text = input.map((message) => message.text).join("\n");
  let from = 0;
  for (const word of words) {
    const at = text.indexOf(word, from);
    expectThat(
      at !== -1,
      `the model was not given ${JSON.stringify(word)}${from === 0 ? "" : " after what comes before it"}`,
    );
    from = at + word.length;
  }
}
