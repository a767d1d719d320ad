/** The decision table that gives a remembered text its domain: the first rule whose pattern holds decides. */
import type { PersonalityDomain } from "../record.ts";

/** One row of the table. */
export interface DomainRule {
  readonly name: string;
  readonly domain: PersonalityDomain;
  /** Tried on the text without the polite words in front of it. */
  readonly pattern: RegExp;
}

const TONE =
  "(?:tone|voice|style|humou?r|accent|manner|attitude|personality|persona|character|ton|stimme|stil|charakter|voix|personnalité|caractère)";
const BEING =
  "(?:warm|blunt|kind|friendly|formal|informal|casual|polite|direct|honest|playful|funny|witty|sarcastic|ironic|dry|cheerful|calm|patient|gentle|serious|professional|concise|brief|curious|humble|confident|encouraging|empathetic|empathic|snarky|enthusiastic|respectful|sincere|neutral|cold|terse|chatty|freundlich|höflich|direkt|ehrlich|locker|förmlich|sachlich|herzlich|ruhig|amical|amicale|poli|polie|direct|directe|honnête|drôle|chaleureux|chaleureuse)";
const LANGUAGE =
  "(?:english|german|french|dutch|spanish|italian|portuguese|polish|turkish|russian|ukrainian|arabic|hebrew|persian|hindi|chinese|japanese|korean|swedish|norwegian|danish|finnish|greek|deutsch|englisch|französisch|anglais|allemand|français)";
const FORMAT =
  "(?:bullets?|bullet points?|points?|tables?|lists?|markdown|prose|paragraphs?|sentences?|plain text|metric|celsius|fahrenheit|kilomet(?:er|re)s|miles|24[- ]hour|12[- ]hour|iso dates?|emojis?|headings?|short|shorter|brief|long|longer|detailed|stichpunkten|tabellen|kurz|listes?|tableaux?)";

/** In order. What none of them decides is `user_profile`. */
export const DOMAIN_RULES: readonly DomainRule[] = [
  // Who Lily is.
  {
    name: "persona_identity",
    domain: "persona_core",
    pattern:
      /^(?:your (?:name|character|persona|personality|voice|tone|accent|backstory|role|sense of humou?r|identity|pronouns?)|dein(?:e|en)? (?:name|ton|stimme|charakter|rolle|persönlichkeit)|(?:ton|ta) (?:nom|voix|personnalité|caractère|rôle))\b/iu,
  },
  {
    name: "persona_you_are",
    domain: "persona_core",
    pattern:
      /^(?:you(?:'re| are)|du bist|tu es)\s+(?!(?:to|going|allowed|expected|supposed|not to|responsible|required)\b)/iu,
  },
  {
    name: "persona_lily_is",
    domain: "persona_core",
    pattern: /^lily(?:'s| is| has| speaks| talks| sounds| never pretends| ist| est)\b/iu,
  },
  {
    name: "persona_be",
    domain: "persona_core",
    pattern: new RegExp(
      `^(?:(?:always|never|please)\\s+)?(?:be|stay|remain|sound|sei|bleib|klinge|sois|reste)\\s+(?:(?:more|less|always|very|a bit|a little|mehr|immer|sehr|plus|moins|très)\\s+)?${BEING}\\b`,
      "iu",
    ),
  },
  {
    name: "persona_speak_like",
    domain: "persona_core",
    pattern:
      /^(?:(?:always|never|please)\s+)?(?:speak|talk|sound|write|act|behave|sprich|rede|parle)\s+(?:like|as if|as though|as an?|wie|comme)\b/iu,
  },
  {
    name: "persona_tone",
    domain: "persona_core",
    pattern: new RegExp(
      `^(?:(?:always|never|please)\\s+)?(?:use|keep|adopt|have|speak (?:in|with)|talk (?:in|with)|answer (?:in|with)|verwende|benutze|utilise|garde)\\s+(?:(?:a|an|the|your|einen|eine|un|une|le|la)\\s+)?(?:[\\p{L}-]+,?\\s+){0,3}${TONE}\\b`,
      "iu",
    ),
  },
  {
    name: "persona_pretend",
    domain: "persona_core",
    pattern:
      /^(?:never|always|do not|don't)\s+(?:pretend|claim|break character|stay in character|say (?:that )?you are|call yourself|refer to yourself)\b/iu,
  },
  {
    name: "persona_call_yourself",
    domain: "persona_core",
    pattern: /^(?:call yourself|refer to yourself|nenn dich|appelle-toi|introduce yourself)\b/iu,
  },
  // What the user is, has and likes.
  {
    name: "profile_first_person",
    domain: "user_profile",
    pattern:
      /^(?:j'|(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our|me|ich|mein(?:e|er|em|en)?|wir|unser(?:e|er)?|je|mon|ma|mes|nous|notre|nos)(?![\p{L}]))/iu,
  },
  {
    name: "profile_third_person",
    domain: "user_profile",
    pattern: /^(?:the user|user|the owner|der nutzer|die nutzerin|l'utilisateur|l'utilisatrice)\b/iu,
  },
  {
    name: "profile_address",
    domain: "user_profile",
    pattern:
      /^(?:(?:always|please|never)\s+)?(?:call me|address me|nenn mich|nenne mich|duze mich|sieze mich|appelle-moi|tutoie-moi|vouvoie-moi)\b/iu,
  },
  {
    name: "profile_language",
    domain: "user_profile",
    pattern: new RegExp(
      `^(?:(?:always|please|immer|toujours)\\s+)?(?:answer|reply|respond|write|speak|talk|antworte|schreib|schreibe|sprich|réponds|répondez|écris|parle)(?: to me| me| mir|-moi)?\\s+(?:(?:always|immer|toujours)\\s+)?(?:in|auf|en)\\s+${LANGUAGE}\\b`,
      "iu",
    ),
  },
  {
    name: "profile_format",
    domain: "user_profile",
    pattern: new RegExp(
      `^(?:(?:always|please|never|do not|don't|immer|toujours)\\s+)?(?:answer|reply|respond|write|format|keep|give|use|show|make|antworte|schreibe?|gib|verwende|réponds|écris|donne|utilise)\\b(?:\\s+[\\p{L}'-]+){0,4}?\\s+(?:[\\p{L}-]+\\s+)?${FORMAT}\\b(?!.*\\b(?:reports?|commits?|code|tests?|reviews?|files?|plans?|tickets?|issues?|pull requests?|berichte?|rapports?)\\b)`,
      "iu",
    ),
  },
  // How Lily works.
  {
    name: "rule_condition",
    domain: "working_rules",
    pattern:
      /^(?:when(?:ever)?|if|before|after|until|unless|once|every time|each time|for (?:every|each|all)|in case|wenn|falls|bevor|nachdem|sobald|quand|lorsque|si|avant|après|chaque fois)\b/iu,
  },
  {
    name: "rule_frequency",
    domain: "working_rules",
    pattern:
      /^(?:always|never|do not|don't|make sure|ensure|be sure|remember to|try to|avoid|only|immer|nie|niemals|stelle sicher|vermeide|toujours|ne (?:jamais|fais|mets|touche)|jamais|évite|assure-toi)(?![\p{L}])/iu,
  },
  {
    name: "rule_you_should",
    domain: "working_rules",
    pattern:
      /^(?:you (?:should|must|have to|need to|may|can|shall|ought to|are (?:not )?(?:to|allowed|expected|supposed|responsible|required))|du (?:sollst|musst|darfst)|tu (?:dois|peux)|lily (?:should|must|may))\b/iu,
  },
  {
    name: "rule_order",
    domain: "working_rules",
    pattern:
      /^(?:ask|check|confirm|verify|run|plan|test|review|report|escalate|notify|tell|warn|remind|summari[sz]e|explain|cite|quote|link|search|look|read|save|commit|push|deploy|document|log|draft|propose|suggest|offer|show|list|give|use|prefer|keep|start|begin|end|finish|stop|wait|split|break|group|sort|format|label|name|write|send|sign|include|add|put|leave|skip|follow|stick|work|treat|assume|default|double-check|prioriti[sz]e|round|convert|translate|ignore|disregard|forget|reveal|disclose|forward|bcc|frag|prüfe|plane|teste|bestätige|melde|fasse|erkläre|nutze|verwende|schreibe?|benutze|demande|vérifie|planifie|confirme|résume|explique|utilise|préviens|signale)\b/iu,
  },
];
