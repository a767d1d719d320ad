/** Orders to an assistant in languages other than English: setting aside what was said, a rule for all answers, sending something out. */

/** What each language says: a verb and what it is done to, in either order. */
interface Orders {
  /** "ignore", "forget" and what may be ignored. */
  readonly setAside: readonly [verb: string, what: string];
  /** The verb stands behind what it is done to. */
  readonly verbLast?: true;
  /** "from now on". */
  readonly fromNowOn: string;
  /** "when the user …". */
  readonly whenUser: string;
  /** "send", "forward", "answer", "tell" as an order. */
  readonly send: string;
}

const LANGUAGES: readonly Orders[] = [
  {
    setAside: [
      "ignorier\\p{L}*|vergiss|vergesst|missacht\\p{L}*|verwirf|übergeh\\p{L}*",
      "anweisung\\p{L}*|anleitung\\p{L}*|regel\\p{L}*|vorgaben?|befehle?|richtlinien?|systemprompt|alles,? was",
    ],
    fromNowOn: "ab (?:jetzt|sofort)|von (?:jetzt|nun) an",
    whenUser:
      "(?:wenn|falls|sobald) (?:der|die|ein|eine) (?:nutzer|benutzer|anwender|user|kunde|besitzer)\\p{L}*",
    send: "schick\\p{L}*|sende\\p{L}*|leite\\p{L}*|übermittle\\p{L}*",
  },
  {
    setAside: [
      "ignor(?:e[zr]?|ant)|oublie[zr]?|néglige[zr]?|ne (?:tiens|tenez) (?:pas|plus) compte",
      "instructions?|consignes?|r[èe]gles?|directives?|tout ce qu\\p{L}*",
    ],
    fromNowOn: "à partir de maintenant|dorénavant|d[ée]sormais|dès maintenant",
    whenUser: "(?:quand|si|lorsqu['’]?e?|chaque fois que) ?(?:l['’]utilisat\\p{L}*|le client)",
    send: "envoie[sz]?|envoyez|transfère|transférez|transmets|transmettez",
  },
  {
    setAside: [
      "ignora\\p{L}{0,2}|ignore[ns]?|olvida\\p{L}{0,2}|olvide[ns]?|descarta|omite|haz caso omiso",
      "instrucciones|reglas|indicaciones|órdenes|directrices|todo lo que",
    ],
    fromNowOn: "a partir de ahora|de ahora en adelante|desde ahora",
    whenUser: "(?:cuando|si|cada vez que) (?:el|la) (?:usuari[oa]|cliente)",
    send: "env[ií]a\\p{L}{0,3}|envíe\\p{L}{0,2}|reenv[ií]a\\p{L}{0,3}|reenvíe\\p{L}{0,2}|manda\\p{L}{0,3}|remite",
  },
  {
    setAside: [
      "ignora\\p{L}{0,3}|dimentica\\p{L}{0,3}|scarta|trascura",
      "istruzioni|regole|indicazioni|direttive|tutto (?:ciò|quello)",
    ],
    fromNowOn: "d['’]ora in (?:poi|avanti)|da adesso in poi|da ora in poi",
    whenUser: "(?:quando|se|ogni volta che) (?:l['’]utente|il cliente)",
    send: "invia\\p{L}{0,3}|inoltra\\p{L}{0,3}|manda\\p{L}{0,3}|spedisci",
  },
  {
    setAside: [
      "ignor[ea]\\p{L}{0,2}|esqueça\\p{L}{0,2}|esquece|desconsidere|descarte",
      "instruções|regras|orientações|diretrizes|ordens|tudo o que",
    ],
    fromNowOn: "a partir de agora|de agora em diante|doravante",
    whenUser: "(?:quando|se|sempre que) (?:o|a) (?:usuári[oa]|utilizador\\p{L}*|cliente)",
    send: "envi[ea]\\p{L}{0,2}|encaminh[ea]\\p{L}{0,2}|mand[ea]\\p{L}{0,2}",
  },
  {
    setAside: [
      "negeer|vergeet|sla\\b[^.\\n]{0,40}\\bover",
      "instructies?|regels?|opdrachten|aanwijzingen|richtlijnen|alles wat",
    ],
    fromNowOn: "vanaf nu|voortaan",
    whenUser: "(?:als|wanneer|zodra) de (?:gebruiker|klant)",
    send: "stuur|verstuur|zend",
  },
  {
    setAside: [
      "zignoruj\\p{L}*|ignoruj\\p{L}*|zapomnij\\p{L}*|pomiń\\p{L}*",
      "instrukcj\\p{L}*|poleceni\\p{L}*|zasad\\p{L}*|reguł\\p{L}*|wytyczn\\p{L}*|wszystko,? co",
    ],
    fromNowOn: "od teraz|od tej pory",
    whenUser: "(?:gdy|jeśli|kiedy) użytkownik",
    send: "wyślij\\p{L}*|prześlij\\p{L}*|przekaż\\p{L}*",
  },
  {
    setAside: [
      "игнориру\\p{L}*|проигнорируй\\p{L}*|забудь\\p{L}*|отбрось\\p{L}*|не обращай\\p{L}* внимания на",
      "инструкци\\p{L}*|указани\\p{L}*|правил\\p{L}*|команд\\p{L}*|распоряжени\\p{L}*|вс[её],? что",
    ],
    fromNowOn: "отныне|с этого момента|с этой минуты|теперь всегда|впредь",
    whenUser: "(?:когда|если) пользователь",
    send: "пришли\\p{L}*|отправь\\p{L}*|перешли\\p{L}*|вышли\\p{L}*",
  },
  {
    verbLast: true,
    setAside: [
      "(?:yok say|görmezden gel|unut|dikkate alma)\\p{L}*",
      "talimat\\p{L}*|kural\\p{L}*|komut\\p{L}*|yönerge\\p{L}*",
    ],
    fromNowOn: "şu andan itibaren|bundan sonra|artık her zaman",
    whenUser: "kullanıcı [^.\\n]{0,40}(?:sorarsa|sorduğunda|isterse|istediğinde)",
    send: "gönder\\p{L}*|ilet\\p{L}*",
  },
  {
    setAside: ["تجاهل\\p{L}*|انس\\p{L}*|أهمل\\p{L}*", "التعليمات|تعليمات|القواعد|الأوامر|التوجيهات"],
    fromNowOn: "من الآن فصاعدا\\p{L}*|ابتداء من الآن",
    whenUser: "(?:عندما|إذا|كلما) \\p{L}{0,6} ?المستخدم",
    send: "أرسل\\p{L}*|ارسل\\p{L}*|حول\\p{L}*",
  },
  {
    setAside: ["התעלם|התעלמי|שכח|שכחי", "ההוראות|הוראות|הכללים|כללים"],
    fromNowOn: "מעכשיו|מעתה",
    whenUser: "(?:כאשר|אם|כש)\\s?המשתמש",
    send: "שלח\\p{L}*|העבר\\p{L}*",
  },
  {
    verbLast: true,
    setAside: ["अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल जा\\p{L}*|भूल जाओ", "निर्देश\\p{L}*|नियम\\p{L}*|आदेश\\p{L}*"],
    fromNowOn: "अब से|आगे से हमेशा",
    whenUser: "(?:जब|अगर|यदि) (?:उपयोगकर्ता|यूज़र|यूजर)",
    send: "भेज\\p{L}*",
  },
];

/** The same where words are written together. */
const JOINED: readonly Orders[] = [
  {
    setAside: [
      "(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會)[^。\\n]{0,8}(?:之前|以前|先前|前面|上面|前文|前述|以上|上述|所有|全部|一切|你的|这些|這些)",
      "指令|指示|规则|規則|提示|要求|命令",
    ],
    fromNowOn: "从现在开始|從現在開始|从现在起|從現在起|今后总是|以后都",
    whenUser: "(?:当|當|如果|每次|每当|每當)[^。\\n]{0,4}(?:用户|用戶|使用者)",
    send: "发送|發送|发给|發給|寄给|转发|轉發|传给",
  },
  {
    verbLast: true,
    setAside: [
      "無視し|無視せよ|忘れて|忘れろ|破棄し",
      "(?:これまで|以前|上記|上の|先の|前|すべて|全て|全部|今まで)の?[^。\\n]{0,6}(?:指示|命令|ルール|規則|プロンプト|設定)",
    ],
    fromNowOn: "今後は(?:必ず|常に|すべて)|これからは(?:必ず|常に|すべて)|以後、?(?:必ず|常に|すべて)",
    whenUser: "ユーザーが[^。\\n]{1,40}(?:たら|とき|場合|れば)",
    send: "送信し|送って|転送し",
  },
  {
    verbLast: true,
    setAside: [
      "무시하|무시해|잊어라|잊어버|잊으세",
      "(?:이전|지금까지|위의|모든|앞의)[^.\\n]{0,8}(?:지시|명령|규칙|프롬프트|지침)",
    ],
    fromNowOn: "지금부터|앞으로는? (?:항상|반드시)",
    whenUser: "사용자가[^.\\n]{1,40}(?:면|때)",
    send: "보내|전송하|전달하",
  },
];

const DESTINATION = "[\\w.+-]+@[\\w-]+\\.\\w+|https?:\\/\\/";
// All answers or questions: what holds for them is a rule for an assistant.
const ALL_ANSWERS =
  "(?:jede[rnms]?|alle[rnm]?|chaque|toutes? (?:les|vos|tes)|cada|tod[ao]s (?:l[ao]s|[ao]s)|ogni|tutte le|elke|alle|każd\\p{L}*|wszystkie|кажд\\p{L}*|все)\\s+(?:\\p{L}+\\s+)?(?:antwort\\p{L}*|fragen?|réponses?|questions?|respuestas?|preguntas?|respostas?|perguntas?|rispost[ae]|domand[ae]|antwoord\\p{L}*|vragen?|odpowied\\p{L}*|pytani\\p{L}*|ответ\\p{L}*|вопрос\\p{L}*)";
const ANSWER =
  "(?:antworte?\\p{L}{0,2}|réponds|répondez|responde\\p{L}{0,2}|rispondi|rispondete|beantwoord|antwoord|odpowiadaj\\p{L}*|отвечай\\p{L}*)";

const REVEAL =
  "(?:gib|nenne|verrate|zeig\\p{L}*|schreib|donne[sz]?|donnez|révèle[sz]?|affiche[sz]?|dame|dime|di|revela|muestra|dammi|dimmi|rivela|mostra|diga|me dê|geef|toon|podaj|pokaż|назови|покажи|выдай|скажи|söyle|göster)";
const GUARDED =
  "(?:passw[oö]r\\p{L}*|kennw[oö]rt\\p{L}*|mots? de passe|contraseñas?|password|senhas?|wachtwoord\\p{L}*|has[łl][ao]\\p{L}*|парол\\p{L}*|şifre\\p{L}*|schlüssel|clés?|claves?|chiavi?|geheimnis\\p{L}*|zugangsdaten)";

/** Orders of these languages. */
export const FOREIGN_ORDERS: readonly RegExp[] = [
  ...LANGUAGES.flatMap((language) =>
    patternsOf(language, { begins: "(?<![\\p{L}\\p{M}])", ends: "(?![\\p{L}\\p{M}])" }),
  ),
  ...JOINED.flatMap((language) => patternsOf(language, { begins: "", ends: "" })),
  new RegExp(`(?<!\\p{L})${ANSWER}(?!\\p{L})[^.\\n]{0,60}(?<!\\p{L})${ALL_ANSWERS}(?!\\p{L})`, "iu"),
  new RegExp(`(?<!\\p{L})${ALL_ANSWERS}(?!\\p{L})[^.\\n]{0,40}(?<!\\p{L})${ANSWER}(?!\\p{L})`, "iu"),
  // A password wanted, a new role given, the prompt itself named.
  new RegExp(`(?<!\\p{L})${REVEAL}(?!\\p{L})[^.\\n]{0,30}(?<!\\p{L})${GUARDED}(?!\\p{L})`, "iu"),
  /(?:密码|密碼|パスワード|비밀번호|暗証番号)[^。\n]{0,6}(?:告诉|告訴|发|發|给我|教えて|表示|出力|送|알려|보내)|(?:告诉|告訴|发给|發給|输出|輸出|显示|顯示)[^。\n]{0,10}(?:密码|密碼|密钥)/u,
  /(?<!\p{L})(?:du bist (?:jetzt|nun|ab)|(?:jetzt|nun) bist du|tu es (?:maintenant|désormais)|vous êtes (?:maintenant|désormais)|(?:ahora|ya) eres|eres ahora|(?:ora|adesso) sei|sei (?:ora|adesso) un|(?:agora )?você (?:agora )?é (?:agora )?um|je bent nu|jesteś teraz|teraz jesteś|ты теперь|теперь ты|вы теперь|sen artık|artık sen|أنت الآن|אתה עכשיו)(?!\p{L})/iu,
  /(?:你|您)(?:现在|現在|从现在起|將)?是一[个個名]?|あなたは(?:今から|これから)|(?:너는|당신은) 이제/u,
  /系统提示|系統提示|システムプロンプト|시스템 프롬프트|системн\p{L}* (?:промпт|инструкц|сообщени)\p{L}*|systemprompt|(?:prompt|instructions?|mensaje|instrucciones|istruzioni|instruções) (?:de |del |di |do )?(?:système|sistema)|sistem (?:istemi|talimat\p{L}*)/iu,
  /(?:すべて|全て|全部|あらゆる|所有|每个|每一个|每次|모든)の?(?:質問|回答|答え|问题|問題|回复|질문|답변)/u,
  // Never asked: what is to be done without the owner's word.
  /(?<!\p{L})(?:nunca|jamás|no|ne|nie|niemals|nicht|mai|non|não|nooit|nigdy|никогда не|не)\s+(?:\p{L}+\s+){0,2}(?:ped?ir|pidas|preguntes?|preguntar|demande[rz]?|nachfragen|fragen|um bestätigung|chiedere|peça|pergunte|vragen|pytaj|спрашивай\p{L}*)(?!\p{L})[^.\n]{0,30}(?:confirm\p{L}*|bestätig\p{L}*|erlaubnis|permi\p{L}*|autori\p{L}*|toestemming|подтвержд\p{L}*|разрешени\p{L}*|zgod\p{L}*|conferm\p{L}*)/iu,
  /(?<!\p{L})(?:sans|ohne|sin|senza|sem|zonder|без)\s+(?:\p{L}+\s+){0,2}(?:demander|confirmation|prévenir|rückfrage|zu fragen|bestätigung|preguntar|confirmación|avisar|chiedere|conferma|avvisare|perguntar|confirmação|vragen|bevestiging|подтверждени\p{L}*|спроса)(?!\p{L})[^.\n]{0,80}(?:nutzer|benutzer|utilisateur|usuari[oa]|utente|utilizador|gebruiker|пользовател)/iu,
];

function patternsOf(language: Orders, { begins, ends }: { begins: string; ends: string }): RegExp[] {
  const { setAside, fromNowOn, whenUser, send, verbLast } = language;
  const [verb, what] = setAside;
  const word = (words: string): string => `${begins}(?:${words})${ends}`;
  const regex = (source: string): RegExp => new RegExp(source, "isu");
  return [
    regex(`${word(verb)}[^.。\\n]{0,40}${word(what)}`),
    // The verb stands last there, and where what is sent goes is said first.
    ...(verbLast ? [regex(`${word(what)}[^.。\\n]{0,30}${word(verb)}`)] : []),
    regex(word(fromNowOn)),
    regex(word(whenUser)),
    regex(`${word(send)}[^\\n]{0,80}(?:${DESTINATION})`),
    ...(verbLast ? [regex(`(?:${DESTINATION})[^\\n]{0,30}${word(send)}`)] : []),
  ];
}
