/** What a question asks for, where that is something a person has one of: the conflict group of its answer. */
import { wordsOf } from "#src/kernel/words.ts";
import type { Attribute } from "./attribute-forms.ts";
import { comparableText } from "./comparable-text.ts";

/** Questions by language, in the order en, de, fr, es, it, pt, nl, sv/no/da, pl, ru, uk, el, tr, zh, ja, ko, ar, hi. */
const QUESTIONS: Readonly<Record<Attribute, readonly string[]>> = {
  home: [
    "where (?:do|am) (?:i|we) (?:currently |now |still )?(?:live|living|reside|based)",
    "what (?:city|town|country|place) do (?:i|we) (?:currently |now |still )?live in|(?:which|what) (?:city|town|country) is my home",
    "wo (?:wohne|lebe) ich|wo wohnen wir",
    "(?:où est-ce que j'|où j'|d'où j')(?:habite|vis)|où (?:habité-je|vis-je)",
    "dónde vivo|donde vivo",
    "dove (?:vivo|abito)",
    "onde (?:eu )?(?:moro|vivo)",
    "waar woon ik",
    "var bor jag|hvor bor jeg",
    "gdzie (?:ja )?mieszkam",
    "где я (?:сейчас |теперь )?живу|где живу я|в каком городе я живу",
    "де я (?:зараз )?(?:живу|мешкаю)",
    "πού μένω|που μένω",
    "nerede (?:yaşıyorum|oturuyorum)",
    "我(?:现在|現在)?住(?:在)?(?:哪|什么地方|什麼地方)",
    "(?:私は)?どこに住んで",
    "어디에? ?(?:살아|살고|사나)",
    "أين (?:أسكن|أعيش)",
    "मैं कहाँ रहत",
  ],
  name: [
    "what(?:'s| is) my (?:full |first )?name|who am i|what am i called|what do you call me|how do you call me|what should you call me",
    "wie hei(?:ß|ss)e ich|wie ist mein name|was ist mein name",
    "comment (?:est-ce que )?je m'appelle|comment m'appelé-je|quel est mon (?:nom|prénom)",
    "c(?:ó|o)mo me llamo|cuál es mi nombre",
    "come mi chiamo|qual è il mio nome",
    "como (?:eu )?me chamo|qual é (?:o )?meu nome",
    "hoe heet ik|wat is mijn naam",
    "vad heter jag|hva heter jeg|hvad hedder jeg",
    "jak (?:się nazywam|mam na imię)",
    "как меня зовут|как мо[её] имя",
    "як мене (?:звати|звуть)",
    "πώς με λένε",
    "(?:benim )?adım ne",
    "我叫什么|我叫什麼|我的名字(?:是|叫)什[么麼]",
    "私の名前は何|私の名前は$",
    "(?:제|내) 이름(?:은|이) (?:뭐|무엇)",
    "ما اسمي",
    "मेरा नाम क्या",
  ],
  employer: [
    "where (?:do|am) (?:i|we) (?:currently |now |still )?(?:work|working)|who do i work for|who(?:'s| is) my employer",
    "wo arbeite ich|bei wem arbeite ich",
    "où est-ce que je travaille|où je travaille|pour qui (?:est-ce que )?je travaille",
    "dónde trabajo|para quién trabajo",
    "dove lavoro",
    "onde (?:eu )?trabalho",
    "waar werk ik",
    "gdzie pracuję",
    "где я работаю",
    "де я працюю",
    "我在(?:哪里|哪裡|哪儿|哪)(?:工作|上班)",
    "どこで働いて",
  ],
  age: [
    "how old am i|what(?:'s| is) my age",
    "wie alt bin ich",
    "quel âge (?:ai-je|est-ce que j'ai|j'ai)",
    "cuántos años tengo",
    "quanti anni ho",
    "quantos anos (?:eu )?tenho",
    "hoe oud ben ik",
    "ile mam lat",
    "сколько мне лет",
    "скільки мені років",
    "我(?:今年)?(?:几|幾|多少)[岁歲]|我多大",
  ],
};

const ATTRIBUTES: readonly Attribute[] = ["home", "name", "employer", "age"];

const ASKED: readonly (readonly [RegExp, (who: string) => string])[] = [
  ...ATTRIBUTES.map(
    (attribute) =>
      [
        new RegExp(
          `(?<![\\p{L}\\p{M}])(?:${QUESTIONS[attribute].map((form) => `(?:${form})`).join("|")})`,
          "u",
        ),
        () => `attribute:${attribute}`,
      ] as const,
  ),
  [/^where was i born/u, () => "attribute:birth place"],
  [/^when (?:was i born|is my birthday)/u, () => "attribute:birthday"],
  [/^am i (?:still |now )?(?:married|single|divorced|engaged)/u, () => "attribute:marital status"],
  [/^how much do i weigh/u, () => "attribute:weight"],
  [
    /^how many (?<who>[a-z]+(?: [a-z]+)?) do (?:i|we) have/u,
    (who) => `attribute:number of ${who.replace(/(?<=[^s])s$/u, "")}`,
  ],
  [/^what(?:'s| is) (?:my |our )?(?<who>[^?]{1,40})'s name/u, (who) => `attribute:${who} name`],
  [/^what(?:'s| is) (?:my |our )?(?<who>[^?']{1,40}) (?:called|named)/u, (who) => `attribute:${who} name`],
  [/^where does (?:my |our )?(?<who>[^?]{1,40}) (?:now )?live/u, (who) => `attribute:${who} home`],
  [/^where does (?:my |our )?(?<who>[^?]{1,40}) (?:now )?work/u, (who) => `attribute:${who} employer`],
  [/^how old is (?:my |our )?(?<who>[^?]{1,40})$/u, (who) => `attribute:${who} age`],
];

/** The conflict group of what answers `question`; `undefined` where the question's own words must find it. */
export function askedGroupOf(question: string): string | undefined {
  const asked = comparableText(question)
    .replaceAll(/[¿?？;؟]+/gu, "")
    .trim();
  for (const [pattern, group] of ASKED) {
    const match = pattern.exec(asked);
    if (match !== null) return group(match.groups?.["who"] ?? "");
  }
  return undefined;
}

/** Words of the statements that answer, in the languages whose forms are known: what a search by words looks for too. */
const WORDS: Readonly<Record<Attribute, string>> = {
  home: "live lives living moved wohne lebe gezogen habite vis déménagé vivo mudé abito trasferito trasferita moro woon verhuisd bor flyttat flyttet mieszkam przeprowadziłem przeprowadziłam живу переехал переехала мешкаю переїхав переїхала μένω yaşıyorum oturuyorum taşındım 住 住在 搬到 住んで 引っ越し 살아요 살고 이사 أسكن أعيش रहता रहती",
  name: "name call called heiße heisse nenn m'appelle appelle nom prénom llamo nombre llámame chiamo nome chamo heet naam heter hedder nazywam imię зовут зови имя звати звуть λένε adım 叫 名字 名前 이름은 اسمي नाम",
  employer:
    "work works working arbeite travaille trabajo lavoro trabalho werk jobbar arbetar jobber arbejder pracuję работаю працюю 工作 上班 働いて أعمل",
  age: "old years jahre ans años anni anos jaar lat лет года років 岁 歲 歳 살",
};

/** `question` with the words by which its answer may be said in other languages. */
export function widenedQuestion(question: string): string {
  const group = askedGroupOf(question);
  const attribute = ATTRIBUTES.find((one) => group === `attribute:${one}`);
  if (attribute === undefined) return question;
  const known = new Set(wordsOf(question));
  const more = WORDS[attribute].split(" ").filter((word) => !known.has(word));
  return [question, ...more].join(" ");
}
