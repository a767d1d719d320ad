/** Cuts text without splitting a surrogate pair. */

/** `text` from `from` up to `to`, each moved back by one where it would split a pair. */
export function sliceWhole(text: string, from: number, to = text.length): string {
  return text.slice(wholeAt(text, from), wholeAt(text, to));
}

/** The place itself, or the one before it where it stands inside a pair; within the text. */
export function wholeAt(text: string, place: number): number {
  const within = Math.min(Math.max(0, place), text.length);
  return isHigh(text.charCodeAt(within - 1)) && isLow(text.charCodeAt(within)) ? within - 1 : within;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
