/** Forms in which words are hidden from a search for them: letters spaced out, base64, and look-alike letters. */

const SPACED = /(?<![\p{L}\p{N}])(?:\p{L}[ .\-_*]{1,3}){5,}\p{L}(?![\p{L}\p{N}])/gu;
const BASE64 = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}={0,2}/gu;
const PRINTABLE = /^[\t\n\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]+$/u;

// Cyrillic and Greek letters that are drawn as Latin ones, and signs that stand for letters.
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  Array.from(
    "аaеeоoрpсcхxуyіiѕsјjԁdһhгrοoαaνvιiΑAΒBΕEΗHΙIΚKΜMΝNΟOΡPΤTΧX".matchAll(/(.)(.)/gu),
    ([, from = "", to = ""]) => [from, to] as const,
  ),
);

/** The text as it stands, then what it says in each disguise that it has. */
export function readingsOf(text: string): string[] {
  return [text, ...spacedOut(text), ...mixedScripts(text), ...digitsAsLetters(text), ...encoded(text)];
}

/** "i g n o r e   a l l": single letters are put together, wider gaps stay gaps. */
function spacedOut(text: string): string[] {
  const joined = text.replaceAll(SPACED, (run) =>
    run.replaceAll(/(\p{L})([ .\-_*]{1,3})(?=\p{L})/gu, (_all, letter: string, gap: string) =>
      gap.length > 1 ? `${letter} ` : letter,
    ),
  );
  return joined === text ? [] : [joined];
}

/** Words in which Latin letters stand beside their doubles of another script. */
function mixedScripts(text: string): string[] {
  const latin = text.replaceAll(/[\p{L}\p{M}]+/gu, (word) =>
    /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word)
      ? Array.from(word, (letter) => LOOK_ALIKES.get(letter) ?? letter).join("")
      : word,
  );
  return latin === text ? [] : [latin];
}

const DIGIT_LETTERS: Readonly<Record<string, string>> = {
  0: "o",
  1: "i",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  "@": "a",
  $: "s",
};

/** "ign0re": digits and signs that stand for letters, in words that are letters for the most part. */
function digitsAsLetters(text: string): string[] {
  const read = text.replaceAll(
    /(?<![\p{L}\p{N}.@])(?=\p{L}*[013457@$])[a-z013457@$]{4,}(?![\p{L}\p{N}.@])/giu,
    (word) =>
      word.replaceAll(/[^a-z]/giu, "").length > word.length / 2
        ? word.replaceAll(/[013457@$]/gu, (sign) => DIGIT_LETTERS[sign] ?? sign)
        : word,
  );
  return read === text ? [] : [read];
}

function encoded(text: string): string[] {
  return [...text.matchAll(BASE64)].flatMap(([run]) => {
    const decoded = new TextDecoder().decode(Uint8Array.from(atobSafe(run), (one) => one.charCodeAt(0)));
    return decoded.length >= 12 && decoded.includes(" ") && PRINTABLE.test(decoded) ? [decoded] : [];
  });
}

/** Base64 of either alphabet as bytes; empty where it is none. */
function atobSafe(run: string): string {
  const plain = run.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/u, "");
  return plain.length % 4 === 1 ? "" : atob(plain);
}
