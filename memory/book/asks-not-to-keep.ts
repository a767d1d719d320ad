/** Tells whether somebody asks that what they say is not remembered. */

const VERB = "(?:remember|save|store|memori[sz]e|record|keep|note|log)";
const THIS = "(?:this|that|it|these|what i|any(?:thing| of)|my|me)";

const ASKS: readonly RegExp[] = [
  new RegExp(
    `(?:(?<!\\b(?:i|we|you|they|he|she) )\\b(?:do not|don't|dont|never|please don't|no need to|without|must not|should not|shouldn't|rather you didn't|rather you did not)\\s+(?:\\w+ly\\s+|you\\s+|ever\\s+)?${VERB}(?:ing|ize|d)?\\b[^.!?]{0,20}\\b${THIS}\\b|(?<!\\b(?:i|we|you|they|he|she) )\\b(?:do not|don't|dont)\\s+${VERB}\\s*(?:[.!,]|$)|\\bkeep\\b[^.!?]{0,20}\\bout of (?:your |the )?memory\\b|\\boff the record\\b|\\b(?:do not|don't) (?:put|add|write)\\b[^.!?]{0,20}\\b(?:in|into|to) (?:your |the )?memory\\b)`,
    "iu",
  ),
  /(?<!\p{L})(?:merk|merke|speicher|speichere|notier|notiere) (?:dir )?(?:das|dies|es)(?: bitte)? nicht(?!\p{L})|(?<!\p{L})(?:nicht|niemals) (?:merken|speichern|notieren)(?!\p{L})/iu,
  /(?<!\p{L})n(?:e |')(?:le |la |les |l')?(?:retiens|retenez|enregistre|enregistrez|mémorise|mémorisez|garde|note) (?:pas|rien)(?!\p{L})/iu,
  /(?<!\p{L})no (?:lo |la |los |me lo )?(?:recuerdes|guardes|memorices|anotes|guarde)(?!\p{L})/iu,
  /(?<!\p{L})non (?:lo |la )?(?:ricordare|ricordarlo|salvare|salvarlo|memorizzare|memorizzarlo)(?!\p{L})/iu,
  /(?<!\p{L})não (?:o |a )?(?:guardes|guarde|memorize|memorizes|lembre|anote)(?!\p{L})/iu,
  /(?<!\p{L})(?:onthoud|bewaar|sla) (?:dit|dat|het) niet(?!\p{L})/iu,
  /(?<!\p{L})не (?:запоминай|запоминайте|сохраняй|сохраняйте|записывай|записывайте)(?!\p{L})/iu,
  /(?<!\p{L})nie (?:zapamiętuj|zapisuj)(?!\p{L})/iu,
  /(?:不要|别|別|请勿|請勿)(?:记住|記住|记下|記下|保存|记录|記錄)|覚えないで|記憶しないで|保存しないで|기억하지 (?:마|말)|저장하지 (?:마|말)/u,
];

/** Whether `text`, a whole message of the user, asks so. */
export function asksNotToKeep(text: string): boolean {
  return ASKS.some((pattern) => pattern.test(text.replaceAll(/[’‘]/gu, "'")));
}
