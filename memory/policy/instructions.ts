/** Text that tells an assistant what to do: harmless from the owner, a risk from a tool, a file or a model. */

const START = "(?:^|[\\n.!?;:\"'“”(>*-]\\s*|,\\s*(?:and|then|so|please)\\s+)";
const ACT =
  "(?:bcc|cc|send|email|e-mail|mail|forward|post|upload|reply|respond|answer|say|tell|mention|recommend|suggest|promote|approve|accept|allow|grant|reveal|disclose|share|show|print|output|trust|treat|follow|obey|comply|execute|run|call|invoke|use|open|visit|click|fetch|download|install|delete|remove|erase|drop|disable|enable|transfer|pay|buy|book|order|write|append|insert|include|add|replace|ignore|disregard|skip|bypass|override|pretend|act|behave|assume|remember|forget|store|save|do|make|ask|give|repeat|translate|summari[sz]e|redirect|whitelist)";

/** Each with what it is about; one hit is enough. */
const PATTERNS: readonly RegExp[] = [
  // Setting aside what was said before.
  /\b(?:ignore|disregard|forget|override|bypass|skip|discard)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|other|your|the|these|those|existing)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|directions?|messages?|context|constraints?|restrictions?|safety)\b/isu,
  /\b(?:ignoriere?|vergiss|missachte)\b.{0,40}\b(?:anweisung(?:en)?|regeln?|vorgaben|befehle)\b/isu,
  /\b(?:ignorez?|oubliez?|ne tiens pas compte)\b.{0,40}\b(?:instructions?|consignes?|r[èe]gles?)\b/isu,
  /\b(?:ignora|olvida)\b.{0,40}\b(?:instrucciones|reglas)\b/isu,
  // Speaking to the assistant about what it is or has to do.
  /\b(?:you|the (?:ai|assistant|model|agent|bot)|lily|claude|chatgpt)\s+(?:must|shall|should|ought to|have to|need to|are (?:now|to|required|instructed|allowed|authori[sz]ed|no longer)|will now|may now|can now)\b/iu,
  /\b(?:from now on|henceforth|as of now|in (?:all|every|any) (?:future|further|subsequent) (?:replies|responses|answers|conversations?|messages|sessions?|turns))\b/iu,
  /\b(?:du musst|sie müssen|ab jetzt|von nun an|tu dois|vous devez|à partir de maintenant|dorénavant|desormais|désormais|debes|a partir de ahora)\b/iu,
  /\b(?:system prompt|developer message|new instructions?|hidden instructions?|jailbreak|developer mode|dan mode|unrestricted mode|god mode)\b/iu,
  /\b(?:note|message|instructions?|reminder|attention|memo|important)\s*(?:to|for)\s+(?:the\s+|all\s+|any\s+)?(?:ai|assistants?|models?|agents?|llms?|bots?|lily|later)\b/iu,
  // Pretending to be another part of the prompt.
  /<\/?\s*(?:system|memory|memories|instructions?|assistant|user|context|tool|prompt|developer|untrusted|data)\b[^>]*>/iu,
  /<\|[a-z_]+\|>|\[\/?(?:INST|SYS|SYSTEM)\]|<<\/?SYS>>|###\s*(?:system|instructions?|assistant|human)\b/iu,
  /(?:^|\n)\s*(?:system|assistant|developer)\s*:/iu,
  /\bSYSTEM\s*:/u,
  // Orders.
  new RegExp(
    `${START}(?:please\\s+|kindly\\s+|note:\\s*)?(?:always|never|do not|don't|you only|only ever|make sure (?:to|that)|be sure to|remember to|it is (?:critical|important|vital|mandatory|imperative) (?:to|that))\\s+(?:\\w+ly\\s+)?(?:${ACT}|that)\\b`,
    "isu",
  ),
  new RegExp(`${START}(?:please|kindly)\\s+(?:\\w+ly\\s+)?${ACT}\\b`, "isu"),
  new RegExp(
    `\\b(?:when(?:ever)?|if|once|before|after|every time|each time)\\b[^.\\n]{3,80}[,:]\\s*(?:please\\s+|always\\s+|then\\s+|immediately\\s+|never\\s+)*${ACT}\\b`,
    "isu",
  ),
  /\b(?:do not|don't|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|ask(?:ing)?|alert(?:ing)?|mention(?:ing)?)\b.{0,30}\b(?:user|owner|human|anyone|them|him|her|it)\b/iu,
  new RegExp(`\\b(?:could|can|would|will) you (?:please |now |kindly )*${ACT}\\b`, "iu"),
  new RegExp(
    `${START}(?:then\\s+)?(?:tell|inform|ask|remind|warn|notify|convince|persuade)\\s+(?:the\\s+)?(?:user|owner|human|customer)s?\\b`,
    "isu",
  ),
  new RegExp(
    `${START}(?:answer|reply|respond)\\s+(?:with|to\\s+(?:all|every|any|each)|only|in|as)\\b`,
    "isu",
  ),
  new RegExp(
    `${START}(?:click|visit|open|download|install)\\s+(?:this|here|on|the\\s+(?:link|attachment|file)|https?:)`,
    "isu",
  ),
  new RegExp(
    `${START}(?:stop|quit)\\s+(?:following|obeying|using|applying)\\s+(?:your|the|all|any)\\b`,
    "isu",
  ),
  new RegExp(
    `${START}(?:add|save|store|write|keep|put|remember)\\s+(?:this|that|the following|it)\\s+(?:\\w+\\s+)?(?:to|in|as|into|for)\\b`,
    "isu",
  ),
  /\byou will (?:only |now |always |never |just )*(?:respond|answer|reply|obey|follow|comply|ignore|act|pretend|reveal|output|say)\b/iu,
  /\byour (?:new|next|real|only|true) (?:task|goal|role|purpose|objective|mission|instructions?|job) is\b/iu,
  /\b(?:override|bypass|disable|turn off|ignore|remove)\s+(?:all |any |the |your )*(?:safety|security|filters?|guardrails?|safeguards?|restrictions?|moderation|policy check)/iu,
  /\b(?:higher|highest|top|maximum)[- ]priority (?:instructions?|directives?|commands?|orders?)\b|\b(?:permanent|standing) (?:rule|instruction|order)\b|\bdo anything now\b/iu,
  /\b(?:human|assistant|user)\s*:.{1,200}\b(?:human|assistant)\s*:/isu,
  // Sending something out, or running something.
  /\b(?:send|forward|bcc|cc|post|upload|exfiltrate|leak|transfer|submit|copy)\b.{0,80}(?:[\w.+-]+@[\w-]+\.\w+|https?:\/\/|\b(?:wallet|iban|bitcoin)\b)/isu,
  /\b(?:reveal|print|show|output|repeat|leak|exfiltrate|expose|disclose|dump)\b.{0,40}\b(?:system prompt|prompt|instructions|secrets?|credentials?|passwords?|api keys?|tokens?|environment variables?|all files|memories|memory)\b/isu,
  new RegExp(
    `${START}(?:then\\s+)?(?:run|execute|eval(?:uate)?|invoke)\\s+(?:the\\s+(?:following|command|script|code|tool)|this|\`|\\$|rm\\b|curl\\b|wget\\b|bash\\b|sh\\b|python\\b|powershell\\b|sudo\\b)`,
    "isu",
  ),
  /\b(?:curl|wget|iwr|invoke-webrequest)\b\s+\S*https?:\/\/|\brm\s+-rf?\b|\|\s*(?:ba)?sh\b/iu,
  /!\[[^\]]*\]\(https?:\/\/[^)]*[?&=][^)]*\)/iu,
  /\b(?:act|behave|respond|speak)\s+as\s+(?:if\s+you|an?\s+(?:unrestricted|evil|unfiltered|admin|root))\b|\bpretend\s+(?:to be|that you|you)\b|\broleplay as\b/iu,
  /\b(?:the user|owner|user) (?:has|have|already)?\s*(?:pre-?)?(?:authori[sz]ed|approved|consented|agreed|granted)\b.{0,60}\b(?:all|any|every|future|transfers?|payments?|deletions?|actions?|access)\b/iu,
];

/** Whether `text` reads like an instruction to an assistant. Judges wording only: who said it is for the caller. */
export function isInstructionLike(text: string): boolean {
  return PATTERNS.some((pattern) => pattern.test(text));
}
