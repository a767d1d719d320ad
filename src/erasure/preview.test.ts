import { expect, it } from "vitest";
import { excerptOf } from "./preview.ts";
import { saysOf } from "./says.ts";

const FACT = "My neighbour keeps zebrafish";
const says = saysOf(FACT);
const filler = "Nothing of this is new. ".repeat(20);

it.each([
  ["a short text as a whole", `Did you know?\n${FACT}!`, `Did you know? ${FACT}!`],
  ["the line that says it, behind an introduction", `${filler}\n- ${FACT}.\n${filler}`, `- ${FACT}.`],
  [
    "a long line from where it is said",
    `${filler}${FACT}, said she.`,
    "…neighbour keeps zebrafish, said she.",
  ],
  ["the beginning of what says it in no place alone", filler, filler.slice(0, 80)],
  ["nothing of nothing", "", ""],
])("shows %s", (_what, said, shown) => {
  expect(excerptOf(said, says)).toBe(shown);
});
