/** How persona and skills stand in a prompt, within their shares of it. Pure. */
import { escapeData } from "#src/context/system-prompt.ts";
import { estimateTokens, sliceWhole } from "#src/kernel/text.ts";
import { z } from "zod";

/** Most of the budget that the persona takes. */
const PERSONA_SHARE = 0.15;

/** Most of the budget that names and descriptions of skills take. */
const SKILLS_SHARE = 0.05;

/** A part of a prompt, and what of it did not fit. */
export interface PromptPart {
  readonly text: string;
  /** In words; `undefined` when all of it is there. */
  readonly left: string | undefined;
}

/** The files of a persona. Its marks cannot be closed by what stands in it. */
export function personaText(
  files: readonly { readonly name: string; readonly text: string }[],
  budgetTokens: number,
): PromptPart {
  const whole = files
    .map(({ name, text }) => `## ${name}\n${text}`)
    .join("\n\n")
    .replaceAll(/<(?=\/?(?:persona|style|skills)\b)/giu, "&lt;");
  const most = Math.floor(budgetTokens * PERSONA_SHARE);
  let cut = whole;
  while (estimateTokens(cut) > most) cut = sliceWhole(cut, 0, Math.floor(cut.length * 0.9));
  if (cut === whole) return { text: whole, left: undefined };
  const left = `its last ${whole.length - cut.length} of ${whole.length} characters are left out of prompts, of which it has ${PERSONA_SHARE * 100} % at most`;
  return { text: `${cut}\n[The rest does not fit.]`, left };
}

/** Names and descriptions of skills. */
export const listingSchema = z.array(z.object({ name: z.string(), description: z.string() }));

/** Lengths to which descriptions are cut where all of them do not fit; the last is none. */
const LENGTHS = [1_024, 400, 160, 60, 0] as const;

/** One line a skill; descriptions are shortened, all alike, where they do not fit. */
export function skillsText(listing: z.infer<typeof listingSchema>, budgetTokens: number): PromptPart {
  const most = Math.floor(budgetTokens * SKILLS_SHARE);
  const atMost = (length: number): string[] => listing.map((skill) => `- ${lineOf(skill, length)}`);
  const fits = (lines: readonly string[]): boolean => estimateTokens(lines.join("\n")) <= most;
  const length = LENGTHS.find((candidate) => fits(atMost(candidate)));
  if (length === LENGTHS[0]) return { text: atMost(length).join("\n"), left: undefined };
  const lines = atMost(length ?? 0);
  while (lines.length > 0 && !fits(lines)) lines.pop();
  const gone = listing.length - lines.length;
  const left =
    gone === 0 ? "descriptions are shortened in prompts" : `the last ${gone} are not told in prompts`;
  return { text: lines.join("\n"), left: `${left}, of which skills have ${SKILLS_SHARE * 100} % at most` };
}

function lineOf(
  { name, description }: { readonly name: string; readonly description: string },
  length: number,
) {
  if (length === 0) return name;
  const cut = description.length > length ? `${sliceWhole(description, 0, length)} …` : description;
  return `${name}: ${escapeData(cut)}`;
}
