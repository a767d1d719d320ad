/** Checks the JSON files of the home folder: a crash may leave one with the right size and only zeros. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "#src/kernel/errors.ts";
import { counted, fine, someOf, wrong, type Check } from "../check.ts";
import { STAGING } from "../home-files.ts";

/** The row of the JSON files at the top of `folder`. */
export function checkSideFiles(folder: string): Check {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json") && !name.startsWith(STAGING));
  const problems = names.flatMap((name) => {
    const problem = problemOf(join(folder, name));
    return problem === undefined ? [] : [`${join(folder, name)} ${problem}`];
  });
  if (problems.length === 0) return fine("settings", `${counted(names.length, "JSON file")} can be read`);
  return wrong("settings", someOf(problems), {
    code: "config_invalid",
    next: "It is kept as it is; correct it, or take it from a backup.",
  });
}

function problemOf(path: string): string | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > 0 && bytes.every((byte) => byte === 0)) return "holds nothing but zeros";
    JSON.parse(bytes.toString("utf8"));
    return undefined;
  } catch (error) {
    // The parser's own message repeats a piece of the file, which may be a secret.
    return error instanceof SyntaxError ? "is not JSON" : `cannot be read: ${errorMessage(error)}`;
  }
}
