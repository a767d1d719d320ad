/** What a sentence states: what it is about, what it says of that, and whether it says so, denies it or corrects it. */
import { attributeFormsFor } from "./attribute-forms.ts";
import { comparableText } from "./comparable-text.ts";
import { CONFLICT_RULES, type About } from "./conflict-rules.ts";
import { denialGroupOf } from "./denial-group.ts";
import { affirmed, writtenOut, type Affirmed } from "./negation.ts";

/** One statement. */
export interface Statement {
  /** What it is about; statements of one group can exclude each other. */
  readonly group: string;
  /** What it states or denies of it; `""` where the group says it all. */
  readonly value: string;
  readonly isDenied: boolean;
  /** It says of itself that something was wrong: "no, …", "…, not BA117". */
  readonly isCorrection: boolean;
  /** A person may have several such things. */
  readonly isOneOfSeveral: boolean;
  /** It is one of several sentences, or holds only at times: it may be true beside others. */
  readonly isLimited: boolean;
  /** Behind it something else is told: "…, works at Acme and likes jazz". What corrects it does not take that away. */
  readonly hasMore: boolean;
}

/** Longest group name; what is longer is about too much to be contradicted by one sentence. */
const MAX_GROUP = 120;
/** Most sentences of a text that are looked at. */
const MAX_SENTENCES = 8;

const LEAD =
  /^(?:(?:(?:no|nope|nein|doch|non|нет|ні|nie|nee|nej|não)[,.:;!]+|no(?= (?:my|i|it|the|we|our) )|actually|correction|final|finally|update|sorry|oops|wait|i mean|en fait|eigentlich|en realidad|in realtà|на самом деле|вообще-то|其实|其實)[,.:;!]* *)+/u;
const REMEMBER = /^(?:remember (?:that )?)/u;
const INSTEAD =
  /(?:,| and| but|，|、) ?(?:(?:and|but) )?(?:not|nicht|pas|no|non|não|niet|nie|не|а не|不是) ?(?<wrong>[^,;.!?]{1,60})$/u;
const AT_TIMES =
  /(?<!\p{L})(?:(?:in|during) (?:the )?(?:summer|winter|spring|autumn|fall|week|holidays)|(?:on|at) weekends?|half|part of|sometimes|also|too|as well|until|for now|im (?:sommer|winter)|am wochenende|en (?:été|hiver))(?!\p{L})/u;

const MORE =
  /(?:,|;| and| but) (?:and |also |now |i |we |he |she |they )*(?:am|is|are|was|has|have|had|works?|lives?|likes?|loves?|hates?|prefers?|owns?|plays?|speaks?|studies|studied|drives?|wants?|needs?|uses?|drinks?|eats?|enjoys?|moved|married|grew|does|did|can|cannot|my|our)(?!\p{L})/u;

/** The statement of `text`; null when it is no single short one, and of several sentences the first that is about something. */
export function statementOf(text: string): Statement | null {
  const comparable = inFirstPerson(comparableText(text));
  const sentences = sentencesOf(comparable);
  if (sentences.length === 1) return named(ofSentence(comparable));
  for (const sentence of sentences) {
    const statement = ofSentence(comparableText(sentence));
    if (statement !== null && !statement.group.startsWith("denial:"))
      return named({ ...statement, isLimited: true });
  }
  return null;
}

/** The first sentences of `text`. */
export function sentencesOf(text: string): string[] {
  return text.split(SENTENCE_END).slice(0, MAX_SENTENCES);
}

/** Not behind initials and titles: "Dr. Okafor", "R. Rae". */
const SENTENCE_END =
  /(?<=(?<!(?:^|[\s(])(?:\p{L}|dr|mr|mrs|ms|st|prof|no|nr|vs|approx))[.!?]) +(?=\p{L})|(?<=[。！？])|\n/iu;

/** What is stated wrongly before a correction: "BA117" of "it is BA118, not BA117". */
export function correctedIn(text: string): string | undefined {
  if (!/[,，、]|(?<=\s)(?:and|but)(?=\s)/u.test(text)) return undefined;
  return INSTEAD.exec(comparableText(text))?.groups?.["wrong"];
}

function ofSentence(comparable: string): Statement | null {
  const plain = comparable.replace(LEAD, "");
  const said = writtenOut(plain.replace(REMEMBER, "").replace(INSTEAD, ""));
  const isCorrection = plain !== comparable || INSTEAD.test(plain);
  const bare = affirmed(said);
  const about = aboutOf(said, bare) ?? aboutClause(said);
  if (about === null || about === undefined) {
    const group = denialGroupOf(bare.text);
    return group === null ? null : of({ group, isDenied: bare.isDenied }, isCorrection, said);
  }
  return of(about, isCorrection, said);
}

function of(about: About, isCorrection: boolean, said: string): Statement {
  const { group, value = "", isDenied = false, isOneOfSeveral = false } = about;
  const isOfAPlace = /(?:home|employer)$/u.test(group);
  return {
    group,
    value,
    isDenied,
    isCorrection,
    isOneOfSeveral,
    isLimited: isOfAPlace && AT_TIMES.test(said),
    hasMore: group.startsWith("attribute:") && MORE.test(value),
  };
}

function aboutOf(said: string, bare: Affirmed): About | null | undefined {
  for (const rule of CONFLICT_RULES) {
    const match = rule.pattern.exec(rule.on === "said" ? said : bare.text);
    if (match === null) continue;
    const about = rule.about(match.groups ?? {});
    if (about === undefined) continue;
    if (about === null || rule.on === "said") return about;
    return { ...about, isDenied: bare.isDenied };
  }
  return byForm(said, false) ?? (bare.isDenied ? byForm(bare.text, true) : undefined);
}

/** By the forms of other languages. As it was said first: what denies in one language is "in" in another. */
function byForm(text: string, isDenied: boolean): About | undefined {
  for (const { attribute, pattern } of attributeFormsFor(text)) {
    const match = pattern.exec(text);
    if (match !== null) return { group: `attribute:${attribute}`, value: match.groups?.["value"], isDenied };
  }
  return undefined;
}

/** Of "I left Acme, I work at Globex now" the last part, where that is a sentence of its own. */
function aboutClause(said: string): About | null | undefined {
  if (/^(?:if|when|because|since|although|while|as|before|after|unless)(?!\p{L})/u.test(said))
    return undefined;
  const clause = /(?:,|;| and| but) (?:now )?(?<last>(?:i|we|my|our) [^,;]+)$/u.exec(said)?.groups?.["last"];
  if (clause === undefined) return undefined;
  // "I do not like coffee any more, I like tea now": what was liked is in the first part.
  const first = said.slice(0, said.length - clause.length).replace(/(?:,|;| and| but) (?:now )?$/u, "");
  const dropped = aboutOf(first, affirmed(first));
  if (dropped?.isDenied === true && dropped.group.startsWith("opinion:")) return dropped;
  return aboutOf(clause, affirmed(clause));
}

/** "The user said that they live in Porto". */
const REPORTED =
  /^(?:the )?user (?:has )?(?:said|says|stated|states|mentioned|mentions|told me|told lily|confirmed|confirms|shared|noted) (?:that )?(?:they|he|she|the user) /u;

/** What others say of the user is about what the user says in the first person. */
function inFirstPerson(comparable: string): string {
  return comparable
    .replace(REPORTED, "the user ")
    .replace(/^user (?=\p{L})/u, "the user ")
    .replaceAll(/\b(?:the )?user's\b/gu, "my")
    .replaceAll(/\bthe user is\b/gu, "i am")
    .replaceAll(/\bthe user has\b/gu, "i have")
    .replaceAll(/\bthe user was\b/gu, "i was")
    .replaceAll(/\bthe user\b/gu, "i");
}

function named(statement: Statement | null): Statement | null {
  if (statement === null || statement.group.length > MAX_GROUP) return null;
  return { ...statement, group: statement.group.replaceAll(/ {2,}/gu, " ") };
}
