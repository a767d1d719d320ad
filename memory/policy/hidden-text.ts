/** Finds characters that a reader cannot see, names them by their codes and removes them; scripts and emoji keep theirs. */
import type { HiddenText } from "./verdict.ts";

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/[\u{E0000}-\u{E007F}]/u, "tag character"],
  [/[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u, "variation selector"],
  [/[\u202A-\u202E\u2066-\u2069]/u, "direction control"],
  [/\u00AD/u, "soft hyphen"],
  [/[\u200B-\u200D\u2060\uFEFF]/u, "zero-width character"],
  [/[\u115F\u1160\u3164\uFFA0]/u, "blank filler"],
  [/\p{Cc}/u, "control character"],
];

const SELECTOR = String.raw`[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`;
const JOINER = String.raw`[\u200C\u200D]`;
/** What no script is written with; the first one, the flag of a region, is a black flag with tags and stays. */
const HIDDEN = new RegExp(
  [
    String.raw`(\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F})`,
    String.raw`[\u00AD\u200B\u2060-\u206F\u202A-\u202E\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E00FF}\u{E01F0}-\u{E0FFF}]`,
    String.raw`(?![\t\n])\p{Cc}`,
    // A selector chooses a form of a digit, sign or picture, and only one does.
    `(?<=[a-z]|${SELECTOR})${SELECTOR}`,
    `(?<=[a-z0-9])(?:${JOINER}|\u034F)|(?<=${JOINER})${JOINER}`,
    String.raw`(?<![\u1100-\u11FF])[\u115F\u1160](?![\u1160-\u11FF])`,
  ].join("|"),
  "giu",
);

/** A text without hidden characters, and what they were; `hidden` is null when there were none. */
export interface CleanText {
  readonly text: string;
  readonly hidden: HiddenText | null;
}

/** Removes hidden characters. `\r\n` and other ends of lines become `\n`, half a surrogate pair U+FFFD. */
export function cleanHidden(raw: string): CleanText {
  const counts = new Map<string, number>();
  const text = raw
    .toWellFormed()
    .replaceAll(/\r\n|[\r\u2028\u2029]/gu, "\n")
    .replaceAll(HIDDEN, (found: string, flag: string | undefined) => {
      if (flag !== undefined) return flag;
      counts.set(found, (counts.get(found) ?? 0) + 1);
      return "";
    });
  const codes = [...counts].map(([character, count]) => ({
    code: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
    name: NAMES.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible character",
    count,
  }));
  return { text, hidden: codes.length === 0 ? null : { codes } };
}

/** Whether something was spelled with hidden characters, or the order of what is read was turned round. */
export function isDeceptive({ codes }: HiddenText): boolean {
  const count = (name: string): number =>
    codes.reduce((sum, code) => sum + (code.name === name ? code.count : 0), 0);
  const isTurned = codes.some(({ code }) => code === "U+202E" || code === "U+202D");
  return (
    isTurned ||
    count("tag character") > 0 ||
    count("variation selector") > 2 ||
    count("zero-width character") > 7
  );
}
