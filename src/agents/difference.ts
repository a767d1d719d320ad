/** What changed between two states of some texts, as Markdown. Pure. */
import { createTwoFilesPatch, OMIT_HEADERS } from "diff";
import { fenced } from "#src/kernel/markdown.ts";

type Texts = Readonly<Record<string, string>>;

/** Lines of changes that are shown; more are counted. */
const MOST_LINES = 120;

/** Changed lines of one text up to which it is compared line by line. */
const MOST_EDITS = 1_000;

/** The names of new, gone and changed texts, and the changed lines; `""` where they are the same. */
export function differenceText(before: Texts, after: Texts): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changed = names.filter((name) => before[name] !== after[name]);
  let room = MOST_LINES;
  return changed
    .map((name) => {
      const old = before[name];
      const now = after[name];
      if (old === undefined) return `**${name}** is new.`;
      if (now === undefined) return `**${name}** is gone.`;
      const lines = patchOf(old, now);
      const shown = lines.slice(0, Math.max(0, room));
      room -= shown.length;
      const left = lines.length - shown.length;
      return [
        `**${name}** changed:`,
        ...(shown.length === 0 ? [] : [fenced("diff", shown.join("\n"))]),
        ...(left === 0 ? [] : [`${left} more changed lines are not shown.`]),
      ].join("\n\n");
    })
    .join("\n\n");
}

function patchOf(before: string, after: string): string[] {
  const patch = createTwoFilesPatch("", "", `${before}\n`, `${after}\n`, undefined, undefined, {
    context: 1,
    maxEditLength: MOST_EDITS,
    headerOptions: OMIT_HEADERS,
  });
  return patch === undefined ? ["(almost all of it)"] : patch.trimEnd().split("\n");
}
