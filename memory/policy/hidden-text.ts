/** Finds characters that a reader cannot see, shows them as codes and removes them; scripts and emoji keep theirs. */
import {
  fillerBelongs,
  graphemeJoinerBelongs,
  joinerBelongs,
  markBelongs,
  selectorBelongs,
  tagFlagLength,
} from "./visible-joiners.ts";
import type { HiddenText } from "./verdict.ts";

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/[\u{E0000}-\u{E007F}]/u, "tag character"],
  [/[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u, "variation selector"],
  [/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/u, "direction control"],
  [/\u00AD/u, "soft hyphen"],
  [/[\u200B-\u200D\u2060\uFEFF]/u, "zero-width character"],
  [/[\u115F\u1160\u3164\uFFA0]/u, "blank filler"],
  [/\p{Cc}/u, "control character"],
];

// What is drawn as nothing: default ignorable characters, controls but tab and line feed, annotation marks.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\uFFF9-\uFFFB]/u;
const MAX_SHOWN = 200;

/** A text without hidden characters, and what they were; `hidden` is null when there were none. */
export interface CleanText {
  readonly text: string;
  readonly hidden: HiddenText | null;
}

/**
 * Removes hidden characters. Kept are joiners that shape a word or an emoji, one variation selector behind a character that has
 * variants, direction marks beside right-to-left letters, fillers in old Korean syllables, grapheme joiners between marks,
 * flags made of tags, tabs and line feeds; `\r\n` becomes `\n`.
 * Half a surrogate pair becomes U+FFFD.
 */
export function cleanHidden(raw: string): CleanText {
  const oneBreak = raw
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(/[\r\u2028\u2029]/gu, "\n");
  const characters = Array.from(oneBreak);
  if (!characters.some((character) => isSuspect(character)))
    return { text: characters.join(""), hidden: null };
  const removed = findHidden(characters);
  const text = characters.filter((_character, index) => !removed.has(index)).join("");
  return { text, hidden: removed.size === 0 ? null : report(characters, removed) };
}

/** Whether something was spelled with hidden characters, or the order of what is read was turned round. */
export function isDeceptive(hidden: HiddenText): boolean {
  const count = (name: string): number =>
    hidden.codes.reduce((sum, code) => sum + (code.name === name ? code.count : 0), 0);
  const isTurned = hidden.codes.some(({ code }) => code === "U+202E" || code === "U+202D");
  return (
    isTurned || hidden.spelled !== "" || count("variation selector") > 3 || count("zero-width character") > 7
  );
}

function isSuspect(character: string): boolean {
  return character !== "\n" && character !== "\t" && INVISIBLE.test(character);
}

function findHidden(characters: readonly string[]): Set<number> {
  const removed = new Set<number>();
  let index = 0;
  while (index < characters.length) {
    const flag = tagFlagLength(characters, index);
    if (flag > 0) index += flag;
    else {
      if (isSuspect(characters[index] ?? "") && !belongs(characters, index)) removed.add(index);
      index += 1;
    }
  }
  return removed;
}

function belongs(characters: readonly string[], index: number): boolean {
  return (
    joinerBelongs(characters, index) ||
    selectorBelongs(characters, index) ||
    markBelongs(characters, index) ||
    fillerBelongs(characters, index) ||
    graphemeJoinerBelongs(characters, index)
  );
}

function report(characters: readonly string[], removed: ReadonlySet<number>): HiddenText {
  const counts = new Map<string, { code: string; name: string; count: number }>();
  for (const index of removed) {
    const code = codeOf(characters[index] ?? "");
    const known = counts.get(code);
    if (known === undefined) counts.set(code, { code, name: nameOf(characters[index] ?? ""), count: 1 });
    else known.count += 1;
  }
  const shown = characters.map((character, index) =>
    removed.has(index) ? `<${codeOf(character)}>` : character,
  );
  return { shown: shorten(shown), codes: [...counts.values()], spelled: spelledBy(characters, removed) };
}

/** Begins a little before the first code, so that it is seen. */
function shorten(parts: readonly string[]): string {
  const first = parts.findIndex((part) => part.startsWith("<U+"));
  const from = Math.max(0, first - 40);
  const cut = parts.slice(from, from + MAX_SHOWN);
  return `${from > 0 ? "…" : ""}${cut.join("")}${from + MAX_SHOWN < parts.length ? "…" : ""}`;
}

function spelledBy(characters: readonly string[], removed: ReadonlySet<number>): string {
  const letters = [...removed].map((index) => (characters[index]?.codePointAt(0) ?? 0) - 0xe0000);
  return letters
    .filter((code) => code >= 0x20 && code <= 0x7e)
    .map((code) => String.fromCharCode(code))
    .join("");
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function nameOf(character: string): string {
  return NAMES.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible character";
}
