/** What has a part of an erased text and stays: a person is told of it, since it may say the same in other words. */
import type { Desk } from "#memory/book/desk.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import { findSaid, type Said, type Search } from "./find-traces.ts";
import { line, type ReceiptLine } from "./receipt.ts";
import { saysPartOf } from "./says.ts";

/** The text, the words with which it was asked for, and the rule by which it is erased. */
export interface PartSearch extends Search {
  readonly text: string;
  readonly asked?: string;
}

/** Finds it. Changes nothing. */
export async function findInPart(
  deps: ErasureDeps,
  desk: Desk,
  { says, text, asked, ...search }: PartSearch,
): Promise<Said> {
  const saysPart = saysPartOf(text, asked);
  return findSaid(deps, desk, { ...search, says: (other) => saysPart(other) && !says(other) });
}

/** How much it is, in words; empty when there is nothing. */
export function partText({ turns, failures, titles, memory }: Said): string {
  const counts: readonly [count: number, one: string, many: string][] = [
    [turns.length, "turn", "turns"],
    [failures.length, "failed turn", "failed turns"],
    [titles.length, "title", "titles"],
    [memory.records.length, "fact", "facts"],
  ];
  return counts
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => `${count} ${count === 1 ? one : many}`)
    .join(", ");
}

/** The line of the receipt. */
export function partLine(said: Said): ReceiptLine {
  const what = partText(said);
  if (what === "") return { place: "said in part", outcome: "nothing_found" };
  return line("said in part", "kept", `${what} with a part of it; /forget with words of theirs erases them`);
}
