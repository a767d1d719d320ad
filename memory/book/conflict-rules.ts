/** The forms of sentences that can contradict each other, and what each is about. Patterns see comparable text. */
import { timeAspectOf } from "./time-aspect.ts";

/** What a sentence is about, and what it says of that. */
export interface About {
  readonly group: string;
  /** What is stated or denied; absent where the group says it all. */
  readonly value?: string | undefined;
  readonly isDenied?: boolean;
  /** A person may have several such things: another one may be another thing. */
  readonly isOneOfSeveral?: boolean;
}

/** One form. */
export interface ConflictRule {
  readonly name: string;
  /** Tried on the sentence with what denies it, or on what is left without that. */
  readonly on: "said" | "affirmed";
  readonly pattern: RegExp;
  /** What it is about, from the pattern's groups; null when nothing in particular, undefined when other forms may fit. */
  about(parts: Readonly<Record<string, string | undefined>>): About | null | undefined;
}

const POSSESSIVE =
  "(?:my|our|mein(?:e|er)?|unser(?:e|er)?|mon|ma|notre|mis?|nuestr[oa]|il mio|la mia|(?:o )?meu|(?:a )?minha|mijn|ons|onze|the user's|user's)";
const IS =
  "(?:is now|are now|is|are|was|will be|ist|sind|heißt|heisst|est|sont|s'appelle|es|son|está|è|é|heet|zijn)";
const NAMED = "(?:is|are) (?:called|named)|goes by|heißt|heisst|s'appelle|se llama|si chiama|se chama|heet";
const LANGUAGE =
  "english|german|french|dutch|spanish|italian|portuguese|polish|turkish|russian|ukrainian|arabic|hebrew|persian|hindi|chinese|japanese|korean|swedish|norwegian|danish|finnish|greek|deutsch|englisch|französisch|anglais|allemand|français";
const TAIL =
  "(?: (?:any ?more|now|these days|at all|really|very much|a lot|so much|nicht mehr|mehr|pas|plus))*$";
const LIKES =
  "(?:really |absolutely |also |no longer |do not |does not |can not |never |ne )*(?:likes?|loves?|enjoys?|hates?|dislikes?|detests?|loathes?|despises?|adores?|stand|stands|bear|prefers?|mag|liebe|hasse|aime|déteste)";
const SUBJECT = "(?:(?:i|we|ich|wir|je) )?";
const DENIED =
  "(?<deny>not |no longer |nicht mehr |nicht |pas |plus |no |ya no |non |não |niet meer |niet )?";
const NOW = "(?:(?:now|currently|still|just|recently|also) )*";

/** Things of which a person may have several, so that a second one takes nothing from the first. */
const SEVERAL =
  /^(?:friend|hobby|colleague|co-?worker|sister|brother|sibling|cousin|uncle|aunt|neighbou?r|child|kid|son|daughter|goal|allergy|pet|cat|dog|team ?mate|student|client|customer|interest|skill|idea|problem|worry|rule|book|freund|freundin|hobby|kollege|kollegin|schwester|bruder|kind|sohn|tochter|ziel|ami|amie|collègue|sœur|frère|enfant|fils|fille|amigo|amiga|hermano|hermana|hijo|hija|fratello|sorella|figlio|figlia|irmão|irmã|filho|filha|broer|zus|zoon|dochter|vriend|vriendin)s?$/u;
const COLOUR =
  /^(?:dark |light |bright |pale )?(?:red|blue|green|yellow|black|white|grey|gray|brown|orange|purple|violet|pink|silver|gold|beige|rot|blau|grün|gelb|schwarz|weiß|rouge|bleue?|verte?|jaune|noire?|blanche?|blanc|roj[oa]|azul|verde|amarill[oa]|negr[oa]|blanc[oa]|ross[oa]|blu|ner[oa]|bianc[oa]|vermelh[oa]|pret[oa]|branc[oa])$/u;
const PLACE =
  /^(?:in|on|at|under|near|behind|with|beside|next to|inside|im|in der|auf|unter|bei|dans|sur|sous|chez) /u;

/** What of a thing is stated: its colour, when or where it is, what kind it is, a value, or how it is. */
function aspectOf(value: string): string {
  if (COLOUR.test(value)) return "colour";
  const time = timeAspectOf(value);
  if (time !== undefined) return time;
  if (PLACE.test(value)) return "place";
  if (/^(?:an?|one of|eine?|une?|un|una|uno|een) /u.test(value)) return "kind";
  return /\d/u.test(value) ? "value" : "is";
}

/** Things whose value is one, whatever its form: `my job is a teacher` and `my job is nursing`. */
const ATTRIBUTE =
  /^(?:(?:favou?rite|preferred|default|current|main|primary|usual|home|work|new|full|first|last|middle|lieblings?).*|.*\b(?:name|address|e-?mail|phone|number|birthday|birth date|date of birth|age|job|profession|occupation|employer|company|time ?zone|language|salary|height|weight|size|city|town|country|nationality|doctor|dentist|manager|boss|wife|husband|partner|diet|deadline|due date|budget|version|status|owner|lead|password manager|editor|bank|flight|seat|pronouns|geburtstag|adresse|name|beruf|anniversaire|nom|adresse|métier|trabajo|dirección|teléfono|vuelo|lavoro|indirizzo|telefono|volo|endereço|telefone|voo|adres|telefoon|vlucht|baan))$/u;

/** How a thing is, and not what it is: "my phone is broken" leaves its number alone. */
const STATE =
  /^(?:(?:very|so|too|really|quite|often|always|still|now|already|almost|almost always|not) )*(?:broken|delayed|cancelled|canceled|boarding|late|early|full|empty|hacked|tight|near|soon|close|slow|fast|busy|angry|mad|happy|unhappy|sad|sick|ill|pregnant|dead|away|gone|ready|done|lost|stolen|expired|overdue|rusty|stressful|exhausting|boring|hard|easy|great|good|bad|nice|kind|fine|terrible|awful|beautiful|lovely|hiring|retiring|leaving|moving|travelling|traveling|misspelled|mispronounced|confidential|private|secret|public|unknown|wrong|right)(?![\p{L}\p{M}'-])/u;
const PERSON = /(?:^| )(?:wife|husband|partner|boss|manager|lead|doctor|dentist|editor|owner)$/u;
const TRIP = /(?:^| )(?:flight|seat|vuelo|volo|voo|vlucht)$/u;

/** What is said beside the value of a thing that has one; undefined where it is the value. */
function asideOf(thing: string, value: string): string | undefined {
  if (STATE.test(value)) return "is";
  if (!PERSON.test(thing) && !TRIP.test(thing)) return undefined;
  const aspect = aspectOf(value);
  return aspect === "is" || aspect === "value" || aspect === "colour" ? undefined : aspect;
}

function thingAbout(named: string, value: string, isDenied: boolean): About | null {
  const thing = named.replace(/^(?:current|present) (?=\p{L})/u, "");
  if (SEVERAL.test(thing)) return null;
  const aspect = ATTRIBUTE.test(thing) ? asideOf(thing, value) : aspectOf(value);
  return {
    group: aspect === undefined ? `attribute:${thing}` : `attribute:${thing}:${aspect}`,
    value,
    isDenied,
  };
}

/** `my cat's name` and `my cat is called` are about the same; of sisters there may be two. */
function nameAbout(who: string, value: string | undefined): About {
  return {
    group: `attribute:${withoutPossessive(who)} name`,
    value,
    isOneOfSeveral:
      SEVERAL.test(withoutPossessive(who)) && !/^(?:cat|dog|pet)$/u.test(withoutPossessive(who)),
  };
}

function withoutPossessive(who: string): string {
  return who.replace(new RegExp(`^${POSSESSIVE} `, "u"), "");
}

/** Words that begin a sentence and name nobody in particular. */
const NOBODY =
  /^(?:i|we|you|he|she|it|they|who|that|this|there|nobody|no one|some\w*|every\w*|any\w*|people|what|if|when|most|many|all|both|his|her|their|and|but|or|because|since|let|please|the|an?)(?![\p{L}\p{M}])/u;
const SOMEBODY = "(?<who>(?:(?:my|our) )?[\\p{L}\\p{M}'-]+(?: [\\p{L}\\p{M}'-]+)?)";

/** What is said of somebody by name, or of a relative: it is theirs and not the user's. */
function othersAbout(what: string, who: string | undefined, value: string | undefined): About | undefined {
  const name = text(who);
  if (NOBODY.test(name) || / (?:to|would|could|should|not|and)$/u.test(name)) return undefined;
  const own = withoutPossessive(name);
  return { group: `attribute:${own} ${what}`, value, isOneOfSeveral: SEVERAL.test(own) };
}

const rule = (
  name: string,
  source: string,
  about: ConflictRule["about"],
  on: ConflictRule["on"] = "said",
): ConflictRule => ({ name, on, pattern: new RegExp(`^${source}`, "su"), about });

const text = (part: string | undefined): string => part ?? "";

/** "I live in a flat" and "in fear" name no place. */
const NO_PLACE =
  /^(?:an?|my|our|your|this|that|fear|hope|peace|harmony|denial|luxury|poverty|exile|danger|interesting|the (?:moment|present|past|future|[\p{L}\p{N}]+ floor))(?![\p{L}\p{M}])/u;
/** "My name is often misspelled", "is on the lease". */
const NO_NAME =
  /^(?:on|in|often|always|usually|hard|difficult|easy|long|short|spelled|spelt|pronounced|misspelled)(?![\p{L}\p{M}'-])/u;
/** "I work for fun" and "at night" name no employer. */
const NO_EMPLOYER =
  /^(?:fun|free|money|a living|nights?|(?:the )?weekends?|noon|the (?:moment|time being)|(?:an? |many |\d+ )?(?:hours?|days?|weeks?|months?|years?))(?![\p{L}\p{M}])/u;
const LIVES = `(?:lives?|am (?:now |currently )?living|is (?:now )?living|(?:have|has) (?:lived|been living)|resides?|(?:am|is|are) (?:now |currently )?based)(?: now| currently)? (?:in|at|near|on)`;
const MOVED = `(?:have |has )?${NOW}(?:moved|relocated)(?: back| over)?(?: from [^,.;]{1,40}?)? to`;
const NUMBER = "(?:\\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";
const YEARS = new RegExp(`^${NUMBER}(?: years old)?$`, "u");

const home = (value: string | undefined): About | undefined =>
  NO_PLACE.test(text(value)) ? undefined : { group: "attribute:home", value };

/** "Hates" and "does not like" are against a thing, "does not hate" is not. */
function isAgainst(how: string): boolean {
  const isDenied = /(?<!\p{L})(?:no|not|never|pas|plus|nicht|kein\p{L}*)(?!\p{L})/u.test(how);
  return isDenied !== /hate|dislike|detest|loathe|despise|hasse|déteste/u.test(how);
}

/** In order; the first form that fits is the one. */
export const CONFLICT_RULES: readonly ConflictRule[] = [
  rule(
    "prefer over",
    `${SUBJECT}(?:would rather have|prefers?|likes?|loves?) (?<one>.+?) (?:over|rather than|instead of|more than|better than|to) (?<two>.+?)${TAIL}`,
    ({ one, two }) => ({ group: `prefer:${[text(one), text(two)].sort().join("|")}` }),
  ),
  rule(
    "opinion",
    `${SUBJECT}(?<how>${LIKES} (?:pas |plus |nicht |kein(?:e[nmrs]?)? )?)(?:the |le |la |les )?(?<thing>[^,.;]{1,60}?)${TAIL}`,
    ({ how, thing }) => ({ group: `opinion:${text(thing)}`, isDenied: isAgainst(text(how)) }),
  ),
  rule(
    "my name",
    `(?:my name is|i am called|i go by|(?:please |just )?call me|address me as|you can call me|mon nom est) (?<value>.+)$`,
    ({ value }) => (NO_NAME.test(text(value)) ? undefined : { group: "attribute:name", value }),
    "affirmed",
  ),
  rule("named", `${POSSESSIVE} (?<thing>[^,.;]{1,40}?) (?:${NAMED}) (?<value>.+)$`, ({ thing, value }) =>
    nameAbout(text(thing), value),
  ),
  rule(
    "x's y",
    `(?<who>(?:${POSSESSIVE} )?[^,.;']{1,40})'s (?<thing>[^,.;]{1,40}?) (?:${IS}) ${DENIED}(?<value>.+)$`,
    ({ who, thing, value, deny }) => {
      if (SEVERAL.test(text(thing))) return null;
      if (thing === "name") return { ...nameAbout(text(who), value), isDenied: deny !== undefined };
      const group = `attribute:${withoutPossessive(text(who))} ${text(thing)}`;
      return { group, value, isDenied: deny !== undefined };
    },
  ),
  rule(
    "moved in time",
    `(?:${POSSESSIVE}|the) (?<thing>[^,.;]{1,40}?) (?:(?:has|was|is|got|been|have) )*(?:moved|rescheduled|postponed|extended|pushed(?: back)?|brought forward|changed|shifted) to (?<value>.+)$`,
    ({ thing, value }) =>
      timeAspectOf(text(value)) === undefined ? undefined : thingAbout(text(thing), text(value), false),
  ),
  rule(
    "my x is",
    `${POSSESSIVE} (?<thing>[^,.;]{1,40}?) (?:${IS}) ${DENIED}(?<value>.+)$`,
    ({ thing, value, deny }) => {
      if (SEVERAL.test(text(thing)) && YEARS.test(text(value)))
        return { group: `attribute:${text(thing)} age`, value, isOneOfSeveral: true };
      return thingAbout(text(thing), text(value), deny !== undefined);
    },
  ),
  rule(
    "turned",
    `${POSSESSIVE} (?<thing>[^,.;]{1,40}?) (?:has )?(?:just )?turned (?<value>${NUMBER})(?: years old)?$`,
    ({ thing, value }) => ({
      group: `attribute:${text(thing)} age`,
      value,
      isOneOfSeveral: SEVERAL.test(text(thing)),
    }),
  ),
  rule("home", `${SUBJECT}${NOW}(?:${LIVES}|${MOVED}) (?<value>.+)$`, ({ value }) => home(value), "affirmed"),
  rule(
    "work",
    `${SUBJECT}${NOW}(?:works?|am working|is working|(?:have|has) (?:worked|been working))(?: now| currently)? (?:at|for) (?!home(?![\\p{L}\\p{M}]))(?<value>.+)$`,
    ({ value }) => (NO_EMPLOYER.test(text(value)) ? undefined : { group: "attribute:employer", value }),
    "affirmed",
  ),
  rule(
    "job",
    `${SUBJECT}${NOW}works?(?: now| currently)? as (?<value>.+)$`,
    ({ value }) => ({ group: "attribute:job", value }),
    "affirmed",
  ),
  rule("age", `i am (?:now )?(?<value>\\d{1,3})(?: years old| now)?$`, ({ value }) => ({
    group: "attribute:age",
    value,
  })),
  rule("born", `i was born (?:in|on|at|near) (?<value>.+)$`, ({ value }) => ({
    group: bornGroup(text(value)),
    value,
  })),
  rule("weight", `i (?:now )?weigh (?:about |around )?(?<value>.+)$`, ({ value }) => ({
    group: "attribute:weight",
    value,
  })),
  rule("height", `i am (?<value>\\d.*) tall$`, ({ value }) => ({ group: "attribute:height", value })),
  rule(
    "marital status",
    `i (?:am|got) (?:now |just |recently )*(?<value>married|single|divorced|engaged|widowed|separated)${TAIL}`,
    ({ value }) => ({ group: "attribute:marital status", value }),
    "affirmed",
  ),
  rule(
    "how many",
    `(?:i|we) (?:now )?have (?<value>${NUMBER}) (?<thing>[a-z]+(?: [a-z]+)?)${TAIL}`,
    ({ thing, value }) => ({
      group: `attribute:number of ${text(thing).replace(/(?<=[^s])s$/u, "")}`,
      value,
    }),
  ),
  rule(
    "diet",
    `i am(?: a| now| not| no longer| now a)* (?:vegan|vegetarian|pescatarian|omnivore)${TAIL}`,
    () => ({ group: "attribute:diet" }),
  ),
  rule(
    "sign as",
    `(?:please )?(?:always )?sign (?:my |the )?(?:e-?mails?|mails?|letters?|messages?|them|it)? ?(?:as|with) .+$`,
    () => ({ group: "rule:sign" }),
  ),
  rule(
    "answer in",
    `(?:please )?(?:always )?(?:answer|reply|respond|write|speak|talk|antworte|schreibe?|sprich|réponds|écris|parle)(?: to me| me| mir|-moi)? (?:always |immer |toujours )?(?:in|auf|en) (?:${LANGUAGE})${TAIL}`,
    () => ({ group: "rule:language" }),
  ),
  rule(
    "the x is",
    `(?:the|der|die|das|le|la|el|il|lo|de|het) (?<thing>[^,.;]{1,40}?) (?:${IS}) ${DENIED}(?<value>.+)$`,
    ({ thing, value, deny }) => thingAbout(text(thing), text(value), deny !== undefined),
  ),
  rule(
    "another's home",
    `${SOMEBODY} ${NOW}(?:${LIVES}|${MOVED}) (?<value>.+)$`,
    ({ who, value }) => (NO_PLACE.test(text(value)) ? undefined : othersAbout("home", who, value)),
    "affirmed",
  ),
  rule(
    "another's work",
    `${SOMEBODY} ${NOW}(?:works|is working|has worked)(?: now)? (?:at|for) (?<value>.+)$`,
    ({ who, value }) => othersAbout("employer", who, value),
    "affirmed",
  ),
];

/** A year, a day of the year and a place can all be true. */
function bornGroup(value: string): string {
  if (/^\d{4}$/u.test(value)) return "attribute:birth year";
  return timeAspectOf(value) === undefined ? "attribute:birth place" : "attribute:birthday";
}
