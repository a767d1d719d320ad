/** The forms of sentences that can contradict each other, and what each is about. Patterns see comparable text. */

/** One form. `group` names what the sentence is about, from its groups; null when it is about nothing in particular. */
export interface ConflictRule {
  readonly name: string;
  readonly pattern: RegExp;
  group(parts: Readonly<Record<string, string>>): string | null;
}

const LEAD =
  "^(?:(?:no|nope|actually|correction|final|finally|update|nein|non),?:? +)?(?:remember (?:that )?)?";
const POSSESSIVE = "(?:my|our|mein(?:e|er)?|unser(?:e|er)?|mon|ma|notre|mi|the user's|user's)";
const IS = "(?:is|are|was|is now|are now|will be|ist|sind|heißt|heisst|est|sont|s'appelle|es)";
const NAMED = "(?:is|are) (?:called|named)|heißt|heisst|s'appelle";
const LANGUAGE =
  "english|german|french|dutch|spanish|italian|portuguese|polish|turkish|russian|ukrainian|arabic|hebrew|persian|hindi|chinese|japanese|korean|swedish|norwegian|danish|finnish|greek|deutsch|englisch|französisch|anglais|allemand|français";
const TAIL = "(?: (?:any ?more|now|these days|at all|really|very much|a lot|so much|nicht mehr|mehr))*$";
const LIKES =
  "(?:really |absolutely |also |no longer |don't |doesn't |do not |does not |can't |cannot |can not |never )*(?:likes?|loves?|enjoys?|hates?|dislikes?|detests?|adores?|stand|stands|bear|prefers?|mag|liebe|hasse|aime|déteste)";
const SUBJECT = "(?:(?:i|we|the user|user|ich|wir|je|j') ?)?";

/** Things of which a person may have several, so that a second one takes nothing from the first. */
const SEVERAL =
  /^(?:friend|hobby|colleague|co-?worker|sister|brother|sibling|cousin|uncle|aunt|neighbou?r|child|kid|son|daughter|goal|allergy|pet|cat|dog|team ?mate|student|client|customer|interest|skill|idea|problem|worry|rule|book|freund|freundin|hobby|kollege|kollegin|schwester|bruder|kind|sohn|tochter|ziel|ami|amie|collègue|sœur|frère|enfant|fils|fille)s?$/u;
const COLOUR =
  /^(?:dark |light |bright |pale )?(?:red|blue|green|yellow|black|white|grey|gray|brown|orange|purple|violet|pink|silver|gold|beige|rot|blau|grün|gelb|schwarz|weiß|rouge|bleu|bleue|vert|verte|jaune|noir|noire|blanc|blanche)$/u;
const PLACE =
  /^(?:in|on|at|under|near|behind|with|beside|next to|inside|im|in der|auf|unter|bei|dans|sur|sous|chez) /u;

/** What of a thing is stated: its colour, where it is, what kind it is, a value, or how it is. */
function aspectOf(value: string): string {
  if (COLOUR.test(value)) return "colour";
  if (PLACE.test(value)) return "place";
  if (/^(?:an?|one of|eine?|une?) /u.test(value)) return "kind";
  return /\d/u.test(value) ? "value" : "is";
}

/** Things whose value is one, whatever its form: `my job is a teacher` and `my job is nursing`. */
const ATTRIBUTE =
  /^(?:(?:favou?rite|preferred|default|current|main|primary|usual|home|work|new|full|first|last|middle|lieblings?).*|.*\b(?:name|address|e-?mail|phone|number|birthday|birth date|date of birth|age|job|profession|occupation|employer|company|time ?zone|language|salary|height|weight|size|city|town|country|nationality|doctor|dentist|manager|boss|wife|husband|partner|diet|deadline|due date|budget|version|status|owner|lead|password manager|editor|bank|flight|seat|pronouns|geburtstag|adresse|name|beruf|anniversaire|nom|adresse|métier))$/u;

function thingGroup(thing: string, value: string): string | null {
  if (SEVERAL.test(thing)) return null;
  return ATTRIBUTE.test(thing) ? `attribute:${thing}` : `attribute:${thing}:${aspectOf(value)}`;
}

const rule = (name: string, source: string, group: ConflictRule["group"]): ConflictRule => ({
  name,
  pattern: new RegExp(source, "su"),
  group,
});

const text = (part: string | undefined): string => part ?? "";

/** In order; the first form that fits is the one. */
export const CONFLICT_RULES: readonly ConflictRule[] = [
  rule(
    "prefer over",
    `${LEAD}${SUBJECT}(?:would rather have|prefers?|likes?|loves?) (?<one>.+?) (?:over|rather than|instead of|more than|better than|to) (?<two>.+?)${TAIL}`,
    ({ one, two }) => `prefer:${[text(one), text(two)].sort().join("|")}`,
  ),
  rule(
    "opinion",
    `${LEAD}${SUBJECT}${LIKES} (?:the )?(?<thing>[^,.;]{1,60}?)${TAIL}`,
    ({ thing }) => `opinion:${text(thing)}`,
  ),
  rule(
    "my name",
    `${LEAD}(?:my name is|i am called|i'm called|call me|address me as|you can call me|ich heiße|nenn mich|je m'appelle|appelle-moi) .+$`,
    () => "attribute:name",
  ),
  rule("named", `${LEAD}${POSSESSIVE} (?<thing>[^,.;]{1,40}?) (?:${NAMED}) .+$`, ({ thing }) =>
    SEVERAL.test(text(thing)) && !/^(?:cat|dog|pet)$/u.test(text(thing))
      ? null
      : `attribute:${text(thing)} name`,
  ),
  rule(
    "x's y",
    `${LEAD}(?<who>(?:${POSSESSIVE} )?[^,.;']{1,40})'s (?<thing>[^,.;]{1,40}?) (?:${IS}) .+$`,
    ({ who, thing }) => whoseGroup(text(who), text(thing)),
  ),
  rule(
    "my x is",
    `${LEAD}${POSSESSIVE} (?<thing>[^,.;]{1,40}?) (?:${IS}) (?:not |no longer )?(?<value>.+)$`,
    ({ thing, value }) => thingGroup(text(thing), text(value)),
  ),
  rule(
    "home",
    `${LEAD}${SUBJECT}(?:(?:now )?lives? (?:now )?(?:in|at|near|on)|moved to|(?:am|is|'m) based in|wohne(?:n)? (?:jetzt )?in|lebe(?:n)? in|habite à|habite en) .+$`,
    () => "attribute:home",
  ),
  rule(
    "work",
    `${LEAD}${SUBJECT}(?:(?:now )?works? (?:now )?(?:at|for)|arbeite bei|travaille chez) .+$`,
    () => "attribute:employer",
  ),
  rule("age", `${LEAD}(?:i am|i'm|the user is) \\d{1,3}(?: years old)?$`, () => "attribute:age"),
  rule(
    "diet",
    `${LEAD}(?:i am|i'm|the user is|i'm not|i am not)(?: a| now| not| no longer| now a)* (?:vegan|vegetarian|pescatarian|omnivore)${TAIL}`,
    () => "attribute:diet",
  ),
  rule(
    "sign as",
    `${LEAD}(?:please )?(?:always )?sign (?:my |the )?(?:e-?mails?|mails?|letters?|messages?|them|it)? ?(?:as|with) .+$`,
    () => "rule:sign",
  ),
  rule(
    "answer in",
    `${LEAD}(?:please )?(?:always )?(?:answer|reply|respond|write|speak|talk|antworte|schreibe?|sprich|réponds|écris|parle)(?: to me| me| mir|-moi)? (?:always |immer |toujours )?(?:in|auf|en) (?:${LANGUAGE})${TAIL}`,
    () => "rule:language",
  ),
  rule(
    "the x is",
    `${LEAD}(?:the|der|die|das|le|la) (?<thing>[^,.;]{1,40}?) (?:${IS}) (?:not |no longer )?(?<value>.+)$`,
    ({ thing, value }) => thingGroup(text(thing), text(value)),
  ),
];

/** `my cat's name` and `my cat is called` are about the same. */
function whoseGroup(who: string, thing: string): string | null {
  const owner = who.replace(new RegExp(`^${POSSESSIVE} `, "u"), "");
  return SEVERAL.test(thing) ? null : `attribute:${owner} ${thing}`;
}
