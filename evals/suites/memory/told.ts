/** What memory cases ask: what is shown, and what the model was given of memory. */
import { lastInput } from "#evals/graders/context.ts";
import { expectThat } from "#evals/graders/expect.ts";
import type { CaseContext } from "#evals/harness/eval-case.ts";
import type { SendOptions, SentReply } from "#evals/harness/runner.ts";

/** A fact as `/memory show` gives it to programs. */
export interface ShownFact {
  readonly id: string;
  readonly text: string;
  readonly [field: string]: unknown;
}

/** The facts of a reply. */
export function factsIn({ data }: SentReply): readonly ShownFact[] {
  const records: unknown = data?.["records"];
  expectThat(Array.isArray(records), "the reply lists no facts");
  return records as readonly ShownFact[];
}

/** The texts of the facts of a reply. */
export const textsIn = (reply: SentReply): string[] => factsIn(reply).map(({ text }) => text);

/** Texts that `/memory show <query>` lists. */
export async function shown(
  { runner, key }: CaseContext,
  query = "",
  options: SendOptions = {},
): Promise<string[]> {
  return textsIn(await runner.send(key("show"), `/memory show ${query}`.trim(), options));
}

/** The memory part of what the model is given with `text` in a new session; `""` when there is none. */
export async function toldWith(
  { runner, key }: CaseContext,
  text: string,
  options: SendOptions = {},
): Promise<string> {
  await runner.send(key(), "/new", options);
  await runner.send(key(), text, options);
  const given = lastInput(runner.modelInputs()).map((message) => message.text);
  return given.flatMap((part) => part.match(/<memory>.*?<\/memory>/gsu) ?? []).join("\n");
}

/** `told` has each of `words`. */
export function expectTold(told: string, words: readonly string[]): void {
  for (const word of words)
    expectThat(told.includes(word), `memory does not tell ${JSON.stringify(word)}: ${told}`);
}

/** `told` has none of `words`. */
export function expectUntold(told: string, words: readonly string[]): void {
  for (const word of words) expectThat(!told.includes(word), `memory tells ${JSON.stringify(word)}: ${told}`);
}
