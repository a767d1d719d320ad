/** Words that carry no topic in the languages that have no stop words elsewhere, and small talk in all of them. */

/** Words of answers, courtesy and everyday doing: two messages that share only these share nothing. */
const ENGLISH = `actually again ago already alright always amazing anyone anything anyway ask awesome awful away back bad
  believe best better big bit boring bye call can't cannot come cool couldn't cute day definitely didn't different doesn't
  don't else enjoy enough especially even ever every everyone everything exactly excellent feel few find fine first
  fun funny get give glad go going gone gonna good goodbye got gotta great guess guy haha happen happy hard hate hear
  hello help hey hi hmm hope i'd i'll i'm i've idea interest interesting isn't it's keep kind know last later least left
  less let's like likely literally little live lol long look lot love luck make many matter maybe mean might mine much
  must name need never new next nice nope nothing oh ok okay old one other own part pay people perfect place play please
  pleasure pretty probably problem put question quite rather read ready real reason right same see seem shall show since
  somebody someone something sometimes soon sorry sort start stay still stop stuff sure take talk tell thank thanks that's
  there's they're thing think though thought three through time today together tomorrow tonight too totally try two
  understand use used usually want way we're week well went what's whatever while whole wish without won't wonder wonderful
  word work wouldn't wow yea yeah year yep yes yesterday yet you'll you're you've yup add another around ask bring
  change check each example explain further give important may mention mind near note plan point possible provide
  recommend remember send set sound suggest suppose such tip total until whether write`;

const GERMAN = `aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist bitte
  da dabei dafür damit danke dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dir doch
  dort du durch ein eine einem einen einer eines einfach er es etwas euch euer für gar ganz geben geht gerade gern gerne gibt
  gut habe haben hallo hast hat hatte hätte heute hier ich ihm ihn ihr ihre im in ins ist ja jetzt kann kannst kein keine
  können könnte könntest lange machen macht mal man mehr mein meine meinem meinen mich mir mit morgen muss müssen nach nein
  nicht nichts noch nun nur ob oder okay schon sehr sein seine sich sie sind so soll sollte super toll über um und uns unser
  unter viel vielen vielleicht vom von vor wann war warum was welche welchen welcher wenn wer werden wie wieder wieviel will
  wird wir wo würde zu zum zur`;

const FRENCH = `à ai aller alors as au aussi autre aux avec avez avoir bien bon bonjour bonne c'est ça ce ces cet cette chez
  comme comment d'un d'une dans de des deux dis dois donc du elle elles en encore es est-ce est et êtes être fait faire faut
  font ici il ils j'ai j'aimerais je l'on la là le les leur lui ma mais me merci mes moi mon ne nos notre nous on ont ou où
  oui par parle pas peut peux plus pour pourquoi pouvez puis quand que quel quelle quelles quels qu'est-ce qui quoi sa salut
  sans se serait ses si son sont suis sur ta te tes toi ton tous tout toute très tu un une va vais veux voilà voudrais votre
  vous y`;

const OTHERS = `al algo con como cómo cuál cuándo cuánto de del donde dónde el ella en entonces era es esa ese eso esta está
  este esto estoy favor gracias ha hacer hay hola la las lo los más me mi muy nada ni o para pero por porque puede puedes
  puedo que qué quiero se ser si sí sin sobre son su sus también te tengo tiene todo tu un una uno vale y ya yo
  anche bene che ciao come con cosa da dei della delle di dove e gli grazie ho il io le mi molto nel no per perché più
  posso può quale quando quanto questa questo sei sono un una vorrei
  ao até bem com como da das do dos e ela ele eu foi isso isto mais mas muito na não nas no nos o obrigado os ou para pela
  pelo pode posso qual quando que quero são se sem sua também tem um uma você
  aan alle als ben bij dan dat de deze die dit een en er gaan geen goed hallo heb hebben heeft het hij hoe ik je jij kan
  kunnen maar met mijn naar nee niet nog of om ook op over te uit van veel voor waar wat we wel wil worden zijn
  а без бы был в вас во вот все вы где да для до его если есть ещё же за здравствуйте и из или их к как какая какие какой
  когда кто ли меня мне можно мой мы на надо не нет но ну о об он она они от очень по почему привет при с сколько со спасибо
  так также там то тоже ты у уже хочу что это этот я
  ve bir bu da de için ile ne mi çok var yok evet hayır teşekkürler merhaba nasıl
  और का की के को क्या मैं में यह है हैं हो से पर कैसे नहीं हाँ धन्यवाद नमस्ते
  في من على إلى عن هل ما هذا هذه كيف أن لا نعم شكرا مرحبا و أو هو هي كم أريد`;

/** Function words of scripts without spaces, longer ones as the segmenter cuts them. */
const EAST_ASIAN = `的 了 是 我 你 他 她 它 们 们 我们 你们 在 有 和 吗 呢 吧 啊 不 也 都 就 要 会 能 可以 这 那 这个 那个 什么 怎么
  怎样 如何 多少 一 个 一个 很 请 请问 想 好 好的 谢谢 你好 没有 给 对 与 还 把 从 到 得 地 说 做 吗 哪 哪里 哪个 为什么 帮 时候
  何 私 方 事 時 今 人 中 日 一 二 三 お願い 教え 教えて 下さい 思い 思う 言っ 言う 出 見 行 行き 行く 良い 必要 場合 話 別 件 質問 他
  저 나 제 그 이 것 수 좀 더 안 네 예 아니요 있어요 없어요 해주세요 주세요 알려 알려줘 어떻게 무엇 뭐 왜 언제 어디 감사합니다 안녕하세요
  하고 싶어요 그리고 그럼 ค่ะ ครับ ที่ และ ของ เป็น ไม่ มี จะ ได้ ให้ ใน ว่า อะไร ไหม ขอบคุณ สวัสดี`;

/** Words that are left out when messages are compared; lower case, in NFKC. */
export const LIGHT_WORDS: ReadonlySet<string> = new Set(
  [ENGLISH, GERMAN, FRENCH, OTHERS, EAST_ASIAN].flatMap((words) => words.normalize("NFKC").split(/\s+/u)),
);
