/** Takes out of a statement what denies it: what is left is the same for the statement and for its denial. */

const START = "(?<![\\p{L}\\p{M}\\p{N}'])";
const END = "(?![\\p{L}\\p{M}\\p{N}])";

const whole = (words: string): RegExp => new RegExp(`${START}(?:${words})${END}`, "gu");

/** Contractions of English, and elisions of French, written out. In order. */
const WRITTEN_OUT: readonly (readonly [RegExp, string])[] = [
  [whole("i'm"), "i am"],
  [/(?<=[a-z])'re(?!\p{L})/gu, " are"],
  [/(?<=[a-z])'ve(?!\p{L})/gu, " have"],
  [whole("(?:cannot|can't)"), "can not"],
  [whole("won't"), "will not"],
  [/(?<=\p{L})n't(?!\p{L})/gu, " not"],
  [/(?<!\p{L})j'/gu, "je "],
  [/(?<!\p{L})n'(?=\p{L})/gu, "ne "],
  [whole("favorite"), "favourite"],
  [whole("color"), "colour"],
];

/** What denies, by language. `do` and its forms carry nothing of their own beside a denial. In order. */
const DENIALS: readonly RegExp[] = [
  whole("ya no|(?:do|does|did) not|no longer|not|never|no"),
  whole("used to"),
  whole("nicht mehr|nicht|niemals|kein(?:e[nmrs]?)? mehr|kein(?:e[nmrs]?)?"),
  /(?<!\p{L})ne (?=\p{L})/gu,
  whole("nunca|non|já não|não"),
  whole("niet meer|niet|geen|nooit|inte längre|inte|ikke lenger|ikke|aldrig|aldri"),
  whole("już nie|nigdy nie|nie"),
  whole("(?:больше|уже|никогда|більше|вже|ніколи) не|не"),
  whole("δεν"),
  /(?<=^(?:我|我们|我們|他|她|他们|她们)(?:现在|現在|已经|已經)?)(?:再也不|不再|不|没有|沒有|没|沒)/gu,
  whole("नहीं"),
  whole("لا|لم أعد|لم"),
];

/** "Stopped smoking", "quit smoking". */
const STOPPED = /(?<!\p{L})(?:stopped|quit) (?<verb>[a-z]+)ing(?!\p{L})/gu;

/** Whether anything denies at all: most sentences deny nothing, and need no search for each. */
const ANY_DENIAL = new RegExp(
  [STOPPED, ...DENIALS].map(({ source }) => `(?:${source.replace("?<verb>", "")})`).join("|"),
  "u",
);
const ANY_WRITTEN_OUT = /'|favorite|color|cannot/u;

/** What stands behind a French verb that is denied, and behind an Italian or Portuguese one. */
const SECOND_PARTS = whole("pas|plus|jamais|più|mais|πια");
/** Parts of a noun that a denial changes in French: "de la viande" and "pas de viande". */
const PARTITIVE = /(?<!\p{L})(?:de la |de l'|du |des |de |d')/gu;

/** A statement without what denies it, and whether something did. */
export interface Affirmed {
  readonly text: string;
  readonly isDenied: boolean;
}

/** `comparable` with contractions written out. */
export function writtenOut(comparable: string): string {
  if (!ANY_WRITTEN_OUT.test(comparable)) return comparable;
  return WRITTEN_OUT.reduce((text, [pattern, by]) => text.replace(pattern, by), comparable);
}

/** The statement that `said` makes or denies. `said` has its contractions written out. */
export function affirmed(said: string): Affirmed {
  const isDenied = ANY_DENIAL.test(said);
  const text = isDenied ? withoutDenials(said) : said;
  const isFrench = /^je(?!\p{L})/u.test(text.trim());
  return { text: tidy(isFrench ? text.replace(PARTITIVE, "") : text), isDenied };
}

function withoutDenials(said: string): string {
  const plain = said.replaceAll(STOPPED, (_, verb: string) => `not ${infinitive(verb)}`);
  return DENIALS.reduce((text, pattern) => text.replace(pattern, " "), plain).replace(SECOND_PARTS, " ");
}

/** "smok" of "smoking" is "smoke", "swimm" is "swim", "eat" is "eat". */
function infinitive(stem: string): string {
  if (/([bdgklmnprt])\1$/u.test(stem) && !stem.endsWith("ll")) return stem.slice(0, -1);
  const isShort = (stem.match(/[aeiouy]+/gu) ?? []).length === 1;
  return isShort && /(?:^|[^aeiou])[aeiou][bcdgkmnprstvz]$|[cvuz]$/u.test(stem) ? `${stem}e` : stem;
}

function tidy(text: string): string {
  return text
    .replaceAll(/ {2,}/gu, " ")
    .replaceAll(/(?<=\p{Script=Han}) (?=\p{Script=Han})/gu, "")
    .trim();
}
