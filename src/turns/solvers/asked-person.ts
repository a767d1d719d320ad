/** Whom a question is about: what is said of somebody else answers no question about this person, or about the user. */
import { STOP_WORDS, termsOf } from "#src/kernel/words.ts";

const POSSESSOR = /([\p{L}\p{M}]+)['’]s(?![\p{L}\p{M}])/gu;
/** What stands before 's in "what's" or "today's" possesses nothing. */
const NO_POSSESSOR =
  /^(?:what|who|where|when|why|how|that|there|here|it|he|she|let|one|today|tomorrow|yesterday|tonight)$/iu;
const SUBJECT_OF_DOES = /\b(?:does|did)\s+([\p{L}\p{M}]+)/giu;
const NAMED_SUBJECT =
  /\b(?:[iI]s|[wW]as|[hH]a[sd]|[wW]ill|[wW]ould|[cC]an|[cC]ould|[sS]hould)\s+(\p{Lu}\p{Ll}[\p{L}\p{M}]*)/gu;
const VERB_OF_USER = /\b(?:do|did)\s+i\s+(?:(?:still|usually|often|really|actually|now)\s+)?([a-z]+)/iu;
const THING_OF_USER = /\bmy\s+(?:new\s+|own\s+|current\s+)?([\p{L}\p{M}]+)/iu;
const SUBJECT_WORD = /^(?:anyone|anybody|someone|somebody|everyone|everybody|the|an?)$/iu;

/** Whether a statement can be about whom `question` asks. English forms only; any other question may be about anybody. */
export function aboutWhomIsAsked(question: string): (statement: string) => boolean {
  const people = peopleOf(question);
  const usersVerb = VERB_OF_USER.exec(question)?.[1]?.toLowerCase();
  const usersThing = people.length > 0 ? undefined : THING_OF_USER.exec(question)?.[1]?.toLowerCase();
  return (statement) => {
    if (people.length > 0) {
      const terms = new Set(termsOf(statement));
      return people.every((person) => terms.has(person));
    }
    if (usersVerb !== undefined && isAnothersVerb(statement, usersVerb)) return false;
    return usersThing === undefined || !isAnothersThing(statement, usersThing);
  };
}

/** The people, animals or things that a question names as its subject or as whose something is. */
function peopleOf(question: string): readonly string[] {
  const possessors = Array.from(question.matchAll(POSSESSOR), ([, word = ""]) => word).filter(
    (word) => !NO_POSSESSOR.test(word),
  );
  const subjects = [...question.matchAll(SUBJECT_OF_DOES), ...question.matchAll(NAMED_SUBJECT)].map(
    ([, word = ""]) => word,
  );
  return [...possessors, ...subjects]
    .filter((word) => !STOP_WORDS.has(word.toLowerCase()) && !SUBJECT_WORD.test(word))
    .flatMap((word) => termsOf(word));
}

/** "Bob lives in London" says nothing of where I live; "the user lives in London" does. */
function isAnothersVerb(statement: string, verb: string): boolean {
  if (/^(?:the )?user\b/iu.test(statement)) return false;
  const third = new RegExp(`\\b${verb}(?:s|es)\\b`, "iu").test(statement);
  return third && !new RegExp(`\\bi(?:\\s+[a-z]+)?\\s+${verb}\\b`, "iu").test(statement);
}

/** "My wife's name is Clara" and "Bob's flight is KL9" say nothing of my name and my flight. */
function isAnothersThing(statement: string, thing: string): boolean {
  const of = new RegExp(`(?<!user)['’]s (?:[\\p{L}\\p{M}]+ )?${thing}(?![\\p{L}\\p{M}])`, "iu");
  const own = new RegExp(`\\b(?:my|our) (?:[\\p{L}\\p{M}]+ )?${thing}(?![\\p{L}\\p{M}])`, "iu");
  return of.test(statement) && !own.test(statement);
}
