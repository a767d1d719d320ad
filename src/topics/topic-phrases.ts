/** Turns of phrase that tie a message to what was said, or set it apart, in a few languages. */

/** Matches any of `phrases` (regular expressions) as whole words, in text that is lower case. */
function wholeWords(phrases: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${phrases.join("|")})(?![\\p{L}\\p{N}])`, "u");
}

/** Matches any of the phrases at the beginning of a message. */
function opening(phrases: readonly string[]): RegExp {
  return new RegExp(`^[^\\p{L}\\p{N}]*(?:${phrases.join("|")})(?![\\p{L}\\p{N}])`, "u");
}

/** Says in so many words that the subject changes. */
const ANNOUNCED = wholeWords([
  "(?:change|changing|switch|switching) (?:of |the |to (?:a )?(?:new |different |another )?)?(?:subject|topic|gears)s?",
  "(?:new|another|different|separate|unrelated) (?:topic|subject)",
  "(?:on )?(?:a |an )?(?:completely |totally |entirely )?(?:different|unrelated|separate) (?:note|question|matter|thing|issue)",
  "something (?:completely |totally |entirely )?(?:different|else entirely|unrelated)",
  "(?:completely|totally) unrelated",
  "(?:let's|let us|can we) (?:talk|speak) about something else",
  "(?:enough|forget) (?:of|about) (?:that|this|it|me)",
  "(?:anderes|neues) thema",
  "themenwechsel",
  "(?:etwas|was) (?:ganz|völlig|komplett) anderes",
  "(?:eine )?(?:ganz )?andere frage",
  "chang(?:eons|er|er?ment|ement) de sujet",
  "(?:un )?autre sujet",
  "sujet (?:complètement )?différent",
  "rien à voir",
  "(?:une )?(?:tout )?autre question",
  "cambi(?:ando|emos|ar) de tema",
  "otro tema",
  "otra (?:cosa|pregunta)",
  "cambi(?:ando|amo) argomento",
  "mudando de assunto",
  "ander onderwerp",
  "другая тема",
  "другой вопрос",
  "сменим тему",
]);
const ANNOUNCED_UNSPACED =
  /話(?:は|が|を)?(?:変|か)(?:わ|え)|別の(?:話|件|質問)|ところで|换个?(?:话题|題)|換個話題|另外一?个?问题|다른 (?:이야기|얘기|질문|주제)|화제를? (?:바꾸|바꿔)/u;

/** Sets a message apart, but may also bring in a detail of the same subject. */
const ASIDE = wholeWords([
  "by the way",
  "btw",
  "(?:one|another) (?:more |other |last )?(?:thing|question)",
  "something else",
  "speaking of",
  "anyways?",
  "anyhow",
  "moving on",
  "on to",
  "also i (?:need|want)",
  "übrigens",
  "apropos",
  "noch (?:etwas|was|eine frage)",
  "au fait",
  "d'ailleurs",
  "sinon",
  "por cierto",
  "a proposito",
  "a propósito",
  "trouwens",
  "кстати",
]);
const ASIDE_UNSPACED = /そういえば|ちなみに|顺便|順便|对了|그런데|그나저나/u;

/** Takes up what was said: points at it, or goes on from it. */
const POINTING = wholeWords([
  "it",
  "its",
  "it's",
  "that",
  "that's",
  "this",
  "these",
  "those",
  "they",
  "them",
  "their",
  "they're",
  "he",
  "she",
  "him",
  "his",
  "her",
  "the same",
  "(?:this|that|the (?:first|second|third|last|other|former|latter)) one",
  "there",
  "then",
  "instead",
  "either",
  "too",
  "as well",
  "above",
  "previous",
  "earlier",
  "again",
  "das",
  "dies(?:e[mnrs]?)?",
  "dazu",
  "davon",
  "dafür",
  "damit",
  "daran",
  "darin",
  "darauf",
  "dabei",
  "daraus",
  "es",
  "ihn",
  "ihm",
  "stattdessen",
  "dort",
  "derselbe",
  "dasselbe",
  "ça",
  "cela",
  "ceci",
  "celui(?:-ci|-là)?",
  "celle(?:-ci|-là)?",
  "ceux",
  "lequel",
  "là(?:-bas)?",
  "cette?",
  "ces",
  "ils?",
  "elles?",
  "y",
  "plutôt",
  "eso",
  "ese",
  "esa",
  "esto",
  "este",
  "esta",
  "lo",
  "ahí",
  "allí",
  "questo",
  "quello",
  "isso",
  "isto",
  "dat",
  "dit",
  "deze",
  "die",
  "это",
  "этот",
  "эта",
  "там",
  "его",
  "её",
  "их",
]);
const POINTING_UNSPACED =
  /そ(?:れ|の|こ|んな|ちら|う)|こ(?:れ|の|こ|ちら)|あ(?:れ|の)|(?:这|那|這)(?:个|個|些|样|里)?|它|그(?:거|것|건|게|곳| )|이(?:거|것|건)/u;

/** Goes on from what was said: it begins with a word that joins sentences. */
const GOING_ON =
  /^[^\p{L}\p{N}]*(?:and|but|or|so|because|also|then|und|aber|oder|et|mais|ou|donc|y|pero|e|ma|mas|en|maar|и|а|но)(?![\p{L}\p{N}])/u;

/** Comes back to what was said before. */
const RETURNING = wholeWords([
  "(?:back|returning|return|going back|coming back) to",
  "as i (?:said|mentioned)",
  "where were we",
  "earlier you (?:said|mentioned)",
  "you (?:said|mentioned)",
  "zurück zu[mr]?",
  "wie gesagt",
  "revenons",
  "pour revenir",
  "volviendo a",
]);

/** Asks for something, as the beginning of a subject does. */
const REQUESTING = opening([
  "(?:hey|hi|hello|please|now|next|well)?[ ,.!]*(?:do|did|have|are|were|can|could|would|will) (?:you|i|we)",
  "(?:what|who|where|when|which|how)(?:'s| is| are| do| does| did| was| were| can| to| many| much| should| old| long| far| would)?",
  "(?:i|we)(?:'m| am| are|'d| would)? (?:need|want|wanna|like to|love to|looking|trying|have a|planning|thinking)",
  "(?:please |can you )?(?:help|tell|show|give|find|book|write|explain|make|create|recommend|suggest|translate|convert|check|look|list|plan|draft|fix|summari[sz]e|compare|calculate|remind|search|schedule|set|describe|let's)",
  "(?:wie|was|wo|wer|welche[rs]?|wann|kannst|können|könntest|ich (?:brauche|möchte|suche|will)|hilf|erkläre?|schreibe?|zeige?|gib|empfiehl|übersetze?|hast|habt|gibt)",
  "(?:comment|quel(?:le)?s?|où|quand|qui|combien|peux-tu|pouvez-vous|pourrais-tu|je (?:voudrais|veux|cherche|dois)|j'aimerais|aide|explique|écris|donne|qu'est-ce|est-ce|as-tu)",
  "(?:cómo|qué|dónde|cuándo|cuál|quién|puedes|necesito|quiero|ayúdame|как|что|где|когда|какой|помоги|мне нужно)",
]);
const REQUESTING_UNSPACED =
  /(?:教えて|ください|下さい|したい|どう(?:すれ|やっ|したら)|おすすめ|何が|どこ|いつ|ですか|ますか|请|帮我|怎么|如何|什么|推荐|알려|추천|어떻게|해줘)/u;

/** What the wording of a message shows, without looking at its subject. */
export interface Wording {
  readonly announced: boolean;
  readonly aside: boolean;
  readonly pointing: boolean;
  readonly goingOn: boolean;
  readonly returning: boolean;
  readonly requesting: boolean;
  readonly question: boolean;
}

/** Characters of a message's beginning in which a phrase speaks about the message as a whole. */
const OPENING_LENGTH = 120;

/** Reads the wording of a message. */
export function wordingOf(glance: string): Wording {
  const text = glance.normalize("NFKC").toLowerCase().replaceAll("’", "'").trim();
  const start = text.slice(0, OPENING_LENGTH);
  const has = (text: string, ...patterns: readonly RegExp[]) =>
    patterns.some((pattern) => pattern.test(text));
  return {
    announced: has(start, ANNOUNCED, ANNOUNCED_UNSPACED),
    aside: has(start, ASIDE, ASIDE_UNSPACED),
    pointing: has(start, POINTING, POINTING_UNSPACED),
    goingOn: has(start, GOING_ON),
    returning: has(start, RETURNING),
    requesting: has(start, REQUESTING) || has(start, REQUESTING_UNSPACED),
    question: /[?؟]/u.test(text),
  };
}
