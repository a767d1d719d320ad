/** Which invisible characters do work that a reader sees: joiners in scripts and emoji, selectors, marks, flags. */

const ZWNJ = "\u200C";
const ZWJ = "\u200D";

// Scripts in which a joiner changes how letters are drawn.
const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Balinese}\p{Script=Javanese}\p{Script=Mandaic}\p{Script=Psalter_Pahlavi}\p{Script=Manichaean}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}]/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Hanifi_Rohingya}]/u;
const PICTURE = /\p{Extended_Pictographic}/u;
const MARK = /\p{M}/u;

/** Whether the joiner at `index` shapes a word or glues an emoji. Two in a row never do. */
export function joinerBelongs(characters: readonly string[], index: number): boolean {
  const joiner = characters[index];
  if (joiner !== ZWJ && joiner !== ZWNJ) return false;
  const before = characters[index - 1] ?? "";
  const after = characters[index + 1] ?? "";
  if (JOINING.test(before) || (MARK.test(before) && JOINING.test(characters[index - 2] ?? ""))) return true;
  return joiner === ZWJ && endsPicture(characters, index - 1) && PICTURE.test(after);
}

/** Whether a picture, perhaps with a skin tone or a selector, ends at `index`. */
function endsPicture(characters: readonly string[], index: number): boolean {
  const last = characters[index] ?? "";
  return (
    PICTURE.test(last) ||
    (/[\uFE0F\p{Emoji_Modifier}]/u.test(last) && PICTURE.test(characters[index - 1] ?? ""))
  );
}

/** Whether the variation selector at `index` chooses a form of the character before it. */
export function selectorBelongs(characters: readonly string[], index: number): boolean {
  const selector = characters[index] ?? "";
  const base = characters[index - 1] ?? "";
  if (/[\uFE0E\uFE0F]/u.test(selector)) return /[\p{Emoji}\p{Extended_Pictographic}\p{S}]/u.test(base);
  // Beside those scripts Unicode has variants of a zero and of East Asian punctuation.
  if (/[\uFE00-\uFE0D]/u.test(selector))
    return /[\p{Sm}\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}0、。！，．：；？]/u.test(base);
  // The vowel separator is no selector, and shapes the end of a word as one does.
  if (/[\u180B-\u180F]/u.test(selector)) return /\p{Script=Mongolian}/u.test(base);
  return /[\u{E0100}-\u{E01EF}]/u.test(selector) && /\p{Script=Han}/u.test(base);
}

/**
 * Whether the direction mark at `index` orders punctuation beside right-to-left letters. The controls that embed,
 * override and isolate never do: they can make a text read otherwise than it is written.
 */
export function markBelongs(characters: readonly string[], index: number): boolean {
  const mark = /[\u200E\u200F\u061C]/u;
  if (!mark.test(characters[index] ?? "") || mark.test(characters[index - 1] ?? "")) return false;
  return characters.some((character) => RIGHT_TO_LEFT.test(character));
}

const JAMO = /[\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF]/u;

/** Whether the filler at `index` holds the place of a letter in an old Korean syllable. */
export function fillerBelongs(characters: readonly string[], index: number): boolean {
  const isJamo = (at: number): boolean => {
    const character = characters[at] ?? "";
    return JAMO.test(character) && !/[\u115F\u1160]/u.test(character);
  };
  const filler = characters[index];
  return (filler === "\u115F" && isJamo(index + 1)) || (filler === "\u1160" && isJamo(index - 1));
}

/** Whether the grapheme joiner at `index` keeps two marks of a letter in their order, as in pointed Hebrew. */
export function graphemeJoinerBelongs(characters: readonly string[], index: number): boolean {
  const isMark = (at: number): boolean => {
    const character = characters[at] ?? "";
    return (
      character !== "\u034F" &&
      /\p{M}/u.test(character) &&
      !/\p{Default_Ignorable_Code_Point}/u.test(character)
    );
  };
  return characters[index] === "\u034F" && isMark(index - 1) && isMark(index + 1);
}

/** Length of the flag of a region that begins at `index`: a black flag, 3 to 6 tags, the end tag; else 0. */
export function tagFlagLength(characters: readonly string[], index: number): number {
  if (characters[index] !== "\u{1F3F4}") return 0;
  const flag = /^\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}/u;
  const match = flag.exec(characters.slice(index, index + 8).join(""));
  return match === null ? 0 : Array.from(match[0]).length;
}
