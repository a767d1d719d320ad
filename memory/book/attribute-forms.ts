/** How people say where they live, what they are called, where they work and how old they are, by language. */

/** What a person has one of. The English forms, which know more, are in `conflict-rules.ts`. */
export type Attribute = "home" | "name" | "employer" | "age";

/** A form: what it states, and the pattern that a statement without denial has, with the group `value`. */
export interface AttributeForm {
  readonly attribute: Attribute;
  readonly pattern: RegExp;
}

const VALUE = "(?<value>[^.!?;]{1,80})";

/** In the order de, fr, es, it, pt, nl, sv/no/da, pl, ru, uk, el, tr, zh, ja, ko, ar, hi. `_` stands for the value. */
const FORMS: Readonly<Record<Attribute, readonly string[]>> = {
  home: [
    "(?:ich|wir) (?:wohne|lebe|wohnen|leben)(?: jetzt| nun)? in _",
    "(?:ich bin|wir sind)(?: jetzt| nun)? nach _ (?:um)?gezogen",
    "je (?:habite|vis)(?: maintenant)? (?:à|en|au|aux|dans) _",
    "je ai déménagé (?:à|en|au|aux) _",
    "(?:yo )?(?:ahora )?vivo(?: ahora)? en _",
    "(?:ahora )?me (?:mudé|he mudado) a _",
    "(?:io )?(?:ora |adesso )?(?:vivo|abito)(?: ora| adesso)? (?:a|in|ad) _",
    "mi sono trasferit[oa] (?:a|in|ad) _",
    "(?:eu )?(?:agora )?(?:moro|vivo|resido)(?: agora)? (?:em|no|na) _",
    "(?:mudei-me|(?:eu )?me mudei) para (?:o |a )?_",
    "ik woon(?: nu)? in _",
    "ik ben(?: nu)? naar _ verhuisd",
    "(?:jag|jeg) bor(?: nu| nå)? (?:i|på) _",
    "(?:jag|jeg) (?:har|er) (?:flyttat|flyttet|flyttede) (?:till|til) _",
    "(?:teraz )?mieszkam(?: teraz)? (?:we|w|na) _",
    "przeprowadził[ae]m się do _",
    "(?:теперь |сейчас )?(?:я )?(?:теперь |сейчас )?живу(?: теперь| сейчас)? (?:во|в|на) _",
    "(?:я )?переехал[аи]? (?:во|в|на) _",
    "(?:зараз )?(?:я )?(?:зараз )?(?:живу|мешкаю)(?: зараз)? (?:в|у|на) _",
    "(?:я )?переїха(?:в|ла) (?:до|в|у|на) _",
    "μένω(?: τώρα)? (?:στην|στη|στον|στο|στα|σε) _",
    "(?:ben )?(?:şimdi |artık )?_'?[dt][ae] (?:yaşıyorum|oturuyorum)",
    "_'?y?[ae] taşındım",
    "我(?:现在|現在)?(?:住在|搬到|搬去|搬家到)了?_",
    "(?:私は)?(?:今は?)?_(?:に|で)(?:住んでいます|住んでいる|住んでます|住んでる|暮らしています|引っ越しました|引っ越した)",
    "(?:(?:저는|나는) )?_에(?:서)? (?:살아요|살고 있어요|살고 있습니다|삽니다|살아)",
    "(?:(?:저는|나는) )?_(?:으로|로) 이사(?:했어요|했습니다|갔어요|왔어요)",
    "(?:أنا )?(?:أسكن|أعيش|انتقلت)(?: الآن)? (?:في|إلى) _",
    "मैं (?:अब )?_ में रहत[ाी] (?:हूँ|हूं)",
  ],
  name: [
    "(?:ich (?:heiße|heisse)|nenn(?:e|t)? mich|mein name ist) _",
    "(?:je m'appelle|appelle-moi|mon (?:nom|prénom) est) _",
    "(?:me llamo|mi nombre es|llámame) _",
    "(?:mi chiamo|il mio nome è|chiamami) _",
    "(?:(?:eu )?me chamo|chamo-me|(?:o )?meu nome é) _",
    "(?:ik heet|mijn naam is|noem me|noem mij) _",
    "(?:jag heter|jeg heter|jeg hedder|mitt namn är|navnet mitt er|mit navn er) _",
    "(?:nazywam się|mam na imię|moje imię to) _",
    "(?:меня зовут|зови меня|мо[её] имя) _",
    "(?:мене (?:звати|звуть)|моє ім'я) _",
    "(?:με λένε|ονομάζομαι) _",
    "(?:benim )?adım _",
    "(?:我叫(?:做)?|我的名字(?:是|叫)|叫我)_",
    "(?:私の)?名前は_(?:です|だ)?",
    "(?:私は)?_(?:と申します|といいます|と呼んでください|と呼んで)",
    "(?:제|내) 이름은 _(?:입니다|이에요|예요|이야|야)",
    "اسمي _",
    "मेरा नाम _(?: है)?",
  ],
  employer: [
    "(?:ich )?arbeite(?: jetzt| nun)? (?:bei|für) _",
    "je travaille(?: maintenant)? (?:chez|pour) _",
    "(?:yo )?(?:ahora )?trabajo(?: ahora)? (?:en|para) _",
    "(?:io )?(?:ora )?lavoro(?: ora)? (?:per|presso|da|alla|in) _",
    "(?:eu )?trabalho(?: agora)? (?:na|no|em|para a|para o|para) _",
    "ik werk(?: nu)? (?:bij|voor) _",
    "(?:jag|jeg) (?:jobbar|arbetar|jobber|arbejder) (?:på|för|for|hos) _",
    "pracuję(?: teraz)? (?:w|dla) _",
    "(?:теперь |сейчас )?(?:я )?(?:теперь |сейчас )?работаю (?:в|на) _",
    "(?:я )?працюю (?:в|у|на) _",
    "我(?:现在|現在)?在_(?:工作|上班)",
    "(?:私は)?_で働いて(?:います|いる|ます|る)",
    "(?:أنا )?أعمل (?:في|لدى) _",
  ],
  age: [
    "ich bin (?<value>\\d{1,3})(?: jahre alt)?",
    "je ai (?<value>\\d{1,3}) ans",
    "tengo (?<value>\\d{1,3}) años",
    "ho (?<value>\\d{1,3}) anni",
    "tenho (?<value>\\d{1,3}) anos",
    "ik ben (?<value>\\d{1,3})(?: jaar(?: oud)?)?",
    "mam (?<value>\\d{1,3}) lat(?:a)?",
    "мне (?<value>\\d{1,3}) (?:лет|года|год)",
    "мені (?<value>\\d{1,3}) (?:років|роки|рік)",
    "(?:ben )?(?<value>\\d{1,3}) yaşındayım",
    "我(?:今年)?(?<value>\\d{1,3})[岁歲]",
    "(?:私は)?(?<value>\\d{1,3})歳です",
    "(?:저는 )?(?<value>\\d{1,3})살(?:이에요|입니다)",
  ],
};

const ATTRIBUTES: readonly Attribute[] = ["home", "name", "employer", "age"];

const ALL: readonly AttributeForm[] = ATTRIBUTES.flatMap((attribute) =>
  FORMS[attribute].map((form) => ({
    attribute,
    pattern: new RegExp(`^${form.replace("_", VALUE)}$`, "u"),
  })),
);

/** Letters that only other scripts than Latin have. */
const OTHER_SCRIPT = /[\u0370-\uFFFF]/u;
const LATIN = ALL.filter(({ pattern }) => !OTHER_SCRIPT.test(pattern.source));
const OTHERS = ALL.filter(({ pattern }) => OTHER_SCRIPT.test(pattern.source));
/** With what forms of the Latin script begin, or what they have: other sentences are tried by none of them. */
const MAY_BE_LATIN =
  /^(?:ich|wir|arbeite|nenn|mein|je|appelle|mon|yo|ahora|vivo|me|mi|llámame|trabajo|tengo|io|ora|adesso|abito|il mio|chiamami|lavoro|ho|eu|agora|moro|resido|mudei|chamo|o meu|meu|trabalho|tenho|ik|mijn|noem|jag|jeg|mitt|navnet|mit|teraz|mieszkam|przeprowadził|nazywam|mam|moje|pracuję)(?!\p{L})|^(?:nennt|mudei-me|przeprowadził[ae]m)|(?:yaşıyorum|oturuyorum|taşındım|yaşındayım)$|^(?:benim )?adım /u;

/** The forms that `text` may have. */
export function attributeFormsFor(text: string): readonly AttributeForm[] {
  if (OTHER_SCRIPT.test(text)) return OTHERS;
  return MAY_BE_LATIN.test(text) ? LATIN : [];
}
