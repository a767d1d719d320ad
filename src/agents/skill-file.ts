/** Takes a `SKILL.md` apart as the Agent Skills specification has it: front matter, then instructions. Pure. */
import { parse } from "yaml";
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";

/** What a skill says of itself; further fields are for other programs. */
const frontMatterSchema = z.object({
  name: z
    .string("name is missing or no text")
    .max(64, "name has more than 64 characters")
    .regex(
      /^[a-z0-9]+(?:-[a-z0-9]+)*$/u,
      "name must be lower case letters and digits, with single hyphens between",
    ),
  description: z
    .string("description is missing or no text")
    .transform((text) => text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim())
    .pipe(z.string().min(1, "description is empty").max(1_024, "description has more than 1024 characters")),
});

/** Description of a skill, or why it is none. */
export type SkillHead =
  | { readonly ok: true; readonly description: string }
  | { readonly ok: false; readonly reason: string };

/** More is no front matter, and YAML that is meant to keep a reader busy stays harmless. */
const FRONT_CHARACTERS = 8_000;

/** Reads the front matter of the skill in a folder of that name, which must be its own. */
export function readSkillHead(text: string, folder: string): SkillHead {
  const front = /^---[ \t]*\r?\n(?<yaml>(?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/u.exec(text)?.groups?.["yaml"];
  if (front === undefined)
    return { ok: false, reason: "does not begin with front matter between two lines ---" };
  if (front.length > FRONT_CHARACTERS)
    return { ok: false, reason: `its front matter has more than ${FRONT_CHARACTERS} characters` };
  try {
    const { name, description } = frontMatterSchema.parse(readYaml(front));
    if (name === folder) return { ok: true, description };
    return { ok: false, reason: `is named ${name}, and its folder ${folder}: they must be the same` };
  } catch (error) {
    if (!(error instanceof z.ZodError))
      return {
        ok: false,
        reason: `its front matter is no YAML (${errorMessage(error).split("\n", 1)[0] ?? ""})`,
      };
    const problems = error.issues.map(({ path, message }) =>
      path.length === 0 ? "its front matter has no fields" : message,
    );
    return { ok: false, reason: problems.join("; ") };
  }
}

/** Tags that nobody knows are no news for a terminal. */
const QUIET = { logLevel: "error" } as const;

function readYaml(text: string): unknown {
  try {
    return parse(text, QUIET);
  } catch {
    // A colon in a sentence is no YAML, and the commonest mistake of all: other programs read it as the sentence it is.
    return parse(text.replaceAll(/^(\w[\w-]*):[ \t]+(?!["'|>[{])(.*: .*)$/gmu, quoteValue), QUIET);
  }
}

function quoteValue(_line: string, key: string, value: string): string {
  return `${key}: ${JSON.stringify(value.trimEnd())}`;
}
