/** Passwords, PINs, keys and tokens by what announces them and by the shape of their value. */
import { findAssigned } from "./assigned-secrets.ts";
import { BEGIN, FUNCTION_WORDS, HARMLESS_VALUES, PASSWORD, PIN, TOKEN } from "./credential-words.ts";
import { findPasted } from "./pasted-secrets.ts";
import { looksLikeSecret } from "./secret-shape.ts";
import { findSeedPhrases } from "./seed-phrase.ts";
import { findUnannounced, isPublic } from "./unannounced-secrets.ts";
import type { Finding, PolicyRule } from "./verdict.ts";

// What may stand between the word and its value: "for the router", "of mine", then "is", ":" and their like.
const FOR =
  "(?:\\s+(?:for|to|of|on|at|für|fürs|vom|von|der|des|zum|zur|du|de|d'|pour|para|del|da|do|di|della|per|van|voor|od|от|для|к|в|bei|beim|im|til)\\s+[^\\s:=]+(?:\\s+[^\\s:=]+){0,3}?)?";
const EQUALS = "\\s*(?:[:=：＝]+>?|->|→)\\s*";
const IS =
  "(?:\\s+(?:(?:is|was|has been|been)\\s+(?:now\\s+)?(?:changed|set|reset)\\s+to|(?:is|are)\\s+(?:now|still)|is|was|are|changed\\s+to|set\\s+to|becomes|ist|lautet|heißt|heisst|war|est|es|è|é|c'est|c’est|jest|to|är|er|это|—|–|-)\\s+|\\s*(?:是|为|為|は|、|는|은|هي)\\s*)";
const QUOTE = "[\"'“”‘’`«»]?";

const regex = (source: string): RegExp => new RegExp(source, "giu");

const PASSWORD_EQUALS = regex(`((?:${PASSWORD}s?|${BEGIN}pw)${FOR}${EQUALS})(${QUOTE}[^\\n]+)`);
const PASSWORD_IS = regex(`(${PASSWORD}s?${FOR}${IS})(${QUOTE}[^\\n]+)`);
const PASSWORD_BARE = regex(`(${PASSWORD}\\s+)(\\S+)`);
const PASSWORD_QUOTED = regex(`(${PASSWORD}\\s+)(["'‘“\`][^"'’”\`\\n]{4,}["'’”\`])`);
// A word or two that say of what, and then a sign: there the value has to look like one.
const PASSWORD_LABELLED = regex(
  `((?:${PASSWORD}|${BEGIN}(?:pw|pass))(?:\\s+[\\p{L}\\d-]+){0,2}(?:${EQUALS}|${IS}|,\\s*))(\\S+)`,
);
const PASSWORD_OF_LOGIN = regex(`(${BEGIN}(?:log-?in|user(?:name)?)\\b[^\\n]{1,40}?${PASSWORD}:?\\s+)(\\S+)`);
const VALUE_IS_PASSWORD = regex(
  `()((?<!\\S)\\S{5,60})(?=\\s+(?:is|was|as|ist|als|est|es)\\s+(?:(?:my|the|our|its|his|her|mein|mon|mi)\\s+(?:\\S+\\s+){0,2})?${PASSWORD})`,
);
// At the end of what is said, behind a word or two that say of what: "mot de passe Netflix …", "пароль от почты …".
const PASSWORD_LAST = regex(
  `((?:${PASSWORD}|${BEGIN}(?:pw|pass))(?:\\s+[\\p{L}\\d'’-]+){0,4}?\\s+)(\\S{6,}?)(?=[.,;!?)]*(?:\\s*$|\\n))`,
);
const POLISH_PASSWORD = regex(`(hasło(?:\\s+\\p{L}+){0,4}?\\s+to\\s+)(\\S+)`);
const LOGIN_DATA = regex(
  `(${BEGIN}(?:credentials?|log-?in(?: data)?|zugangsdaten|identifiants|accesso)\\b[:\\s]+\\S+\\s*[/|:,]\\s*)(\\S+)`,
);
const OPENED_WITH = regex(
  `${BEGIN}((?:alarm|safe|door|gate|lock|phone|vault|garage|tablet|sim)\\b[^.\\n]{0,30}?\\b(?:off|opens?|opened|unlocks?|unlocked|disarms?|disarmed)\\s+(?:with|by|using)\\s+(?:code\\s+)?)(\\d{4,8})(?![\\p{L}\\p{N}]|[-.,:/]\\d|\\s*(?:%|€|\\$|[a-z]{1,3}\\b|people|years?|euros?))`,
);
const SEED_PHRASE = regex(
  `(${BEGIN}(?:seed|recovery|mnemonic|wallet)\\s+(?:phrase|words?)(?:${EQUALS}|${IS}|\\s+))(\\p{L}+(?:\\s+\\p{L}+){9,})`,
);
const LOGIN_PAIR = regex(`([\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+\\s*[/:]\\s*)(\\S{6,})`);
const PIN_VALUE = regex(
  `${BEGIN}(${PIN}(?:'s)?${FOR}(?:${EQUALS}|${IS}|\\s+))(${QUOTE}\\d(?:[ -]?\\d){2,7}[A-Z]?)(?![\\p{L}\\p{N}]|[-.,:/]\\d|\\s*(?:%|€|\\$|mm|cm|km|kg|min|years?|days?|hours?|people))`,
);
const TOKEN_VALUE = regex(`${BEGIN}(${TOKEN}${FOR}(?:${EQUALS}|${IS}|\\s+))(\\S+)`);
const NEAR_TOKEN = regex(`(?<![\\p{L}\\p{N}/])[A-Za-z0-9+/_.=~-]{16,}`);
const TOKEN_WORD = regex(`(?:${BEGIN}${TOKEN}|${PASSWORD})(?![\\p{L}\\p{N}])`);
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/gu;
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9 ]{0,30} )?PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END[^-]*-----|$)|PuTTY-User-Key-File-\d[\s\S]*|(?<![\w-])AGE-SECRET-KEY-1[A-Z0-9]{20,}/gu;
const URL_WITH_PASSWORD = /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@?#]*:([^\s/@]+)@[^\s/@]/giu;

/** Findings of credentials; what a word announces goes by the rule of that word. */
export function findCredentials(text: string): Finding[] {
  const announced = findAnnounced(text);
  const isNew = ({ start, end }: Finding): boolean =>
    announced.every((other) => end <= other.start || start >= other.end);
  const others = [...valuesOf(text, PASSWORD_LAST, "password", lengthOfLast), ...findUnannounced(text)];
  return [...announced, ...others.filter(isNew)];
}

function findAnnounced(text: string): Finding[] {
  return [
    ...all(text, PRIVATE_KEY, "private_key"),
    ...all(text, JWT, "jwt"),
    ...all(text, URL_WITH_PASSWORD, "url_credentials").filter(
      (found) => !isMasked(text.slice(found.start, found.end)),
    ),
    ...valuesOf(text, PASSWORD_EQUALS, "password", (value) => lengthOfPassword(value, true)),
    ...valuesOf(text, PASSWORD_IS, "password", (value) => lengthOfPassword(value, false)),
    ...valuesOf(text, PASSWORD_QUOTED, "password", (value) => lengthOfPassword(value, true)),
    ...valuesOf(text, LOGIN_PAIR, "password", (value) => (looksLikeSecret(value, 6) ? value.length : 0)),
    ...valuesOf(text, PASSWORD_BARE, "password", (value) => (looksLikeSecret(value, 6) ? value.length : 0)),
    ...valuesOf(text, PASSWORD_LABELLED, "password", (value) =>
      looksLikeSecret(value, 5) ? value.length : 0,
    ),
    ...valuesOf(text, PASSWORD_OF_LOGIN, "password", (value) => lengthOfPassword(value, true)),
    ...valuesOf(text, VALUE_IS_PASSWORD, "password", (value) =>
      looksLikeSecret(value, 5) ? value.length : 0,
    ),
    ...valuesOf(text, POLISH_PASSWORD, "password", (value) => (looksLikeSecret(value, 5) ? value.length : 0)),
    ...valuesOf(text, LOGIN_DATA, "password", (value) => (looksLikeSecret(value, 6) ? value.length : 0)),
    ...valuesOf(text, OPENED_WITH, "password", (value) => value.length),
    ...valuesOf(text, SEED_PHRASE, "credential", (value) => value.length),
    ...valuesOf(text, PIN_VALUE, "password", (value) => value.length),
    ...valuesOf(text, TOKEN_VALUE, "credential", (value) =>
      looksLikeSecret(value, 8) && !isPublic(value) ? value.length : 0,
    ),
    ...findNearWords(text),
    ...findSeedPhrases(text),
    ...findPasted(text),
    ...findAssigned(text).filter(({ start, end }) => !isMasked(text.slice(start, end))),
  ];
}

function all(text: string, pattern: RegExp, rule: PolicyRule): Finding[] {
  return [...text.matchAll(pattern)].map(({ 0: found, 1: value, index }) => {
    const end = index + found.length - (value === undefined ? 0 : 2);
    return { rule, start: value === undefined ? index : end - value.length, end };
  });
}

/** Findings of the second group, as long as `lengthOf` says; 0 is none. */
function valuesOf(
  text: string,
  pattern: RegExp,
  rule: PolicyRule,
  lengthOf: (value: string, before: string) => number,
): Finding[] {
  return [...text.matchAll(pattern)].flatMap(({ 1: before = "", 2: value = "", index }): Finding[] => {
    const length = isMasked(value) ? 0 : lengthOf(value, before);
    const start = index + before.length;
    return length === 0 ? [] : [{ rule, start, end: start + length }];
  });
}

/** What stands for a value that was taken out: `[password]`, `<secret>`, `****`, `…`, `$NAME`, `{{name}}`. */
function isMasked(value: string): boolean {
  return /^["'“‘`]?(?:\[[^\]]*\]|<[^>]*>|[*•xX…·.]{3,}|\$\{?\w+\}?|\{\{.*\}\}|%\w+%)/u.test(value);
}

const CLAUSE_END = /[\s,;。，、!?]|\.(?=\s|$)/u;
const PHRASE = 4;
const LONGEST_PHRASE = 8;

/** How much of what follows a password word is the password; 0 if it only says something about it. */
function lengthOfPassword(rest: string, isAssigned: boolean): number {
  const quoted = /^["'“‘`«]([^"'”’`»]+)["'”’`»]/u.exec(rest);
  if (quoted !== null) return quoted[0].length;
  const clause = (/^[^.;。!?\n]*(?:[.;!?](?=\S)[^.;。!?\n]*)*/u.exec(rest)?.[0] ?? "").trimEnd();
  const [first = ""] = clause.split(CLAUSE_END, 1);
  if (first === "") return 0;
  if (looksLikeSecret(first, 4)) return first.length;
  const words = clause.split(/[\s,]+/u).map((word) => word.toLowerCase());
  const [start = ""] = words;
  if (FUNCTION_WORDS.has(start)) return 0;
  // "long and random" says something about it; "correct horse battery staple" is one.
  if (HARMLESS_VALUES.has(start) && words.length < PHRASE) return 0;
  if (words.length === 1) return clause.length;
  if (words.some((word) => FUNCTION_WORDS.has(word)) || words.length > LONGEST_PHRASE) return 0;
  return isAssigned || words.length > 2 ? clause.length : 0;
}

/** A value that is only last has to look chosen: digits among letters or with a sign between, as no name or version has them. */
function lengthOfLast(value: string, before: string): number {
  const isChosen =
    /\p{L}[!@#$%^&*+=~_.-]+\d|\d[!@#$%^&*]/u.test(value) ||
    /\p{L}{3}\d{2,}\p{L}{2}|\p{L}{4}\d{3,}$/u.test(value);
  return isChosen && looksLikeSecret(value, 6) && !ENDS_IN_PREPOSITION.test(before) ? value.length : 0;
}

const ENDS_IN_PREPOSITION =
  /(?<!\p{L})(?:on|in|for|of|at|to|with|from|by|via|per|mit|auf|für|bei|von|vom|zum|zur|im|am|du|de|del|от|для|на|avec|pour|sur|dans|con|para|en|van|voor|op)\s+$/iu;

const NEAR = 40;

/** Random-looking runs with a credential word within {@link NEAR} characters in front, or behind. */
function findNearWords(text: string): Finding[] {
  const words = [...text.matchAll(TOKEN_WORD)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
  }));
  if (words.length === 0) return [];
  return [...text.matchAll(NEAR_TOKEN)].flatMap(({ 0: found, index }): Finding[] => {
    const value = found.replace(/[.=]+$/u, "");
    const end = index + value.length;
    const isNear = words.some(
      (word) =>
        index - word.end <= NEAR && word.start - end <= NEAR && (word.end <= index || word.start >= end),
    );
    return isNear && looksLikeSecret(value, 16) && !isPublic(value)
      ? [{ rule: "credential", start: index, end }]
      : [];
  });
}
