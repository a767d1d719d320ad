/** Text that tells an assistant what to do: harmless from the owner, a risk from a tool, a file or a model. */
import { readingsOf } from "./disguises.ts";
import { FOREIGN_ORDERS } from "./orders-by-language.ts";

const START = "(?:^|[\\n.!?;:\"'“”(>*-]\\s*|,\\s*(?:and|then|so|please)\\s+)";
const ACT =
  "(?:bcc|cc|send|email|e-mail|mail|forward|post|upload|reply|respond|answer|say|tell|mention|recommend|suggest|promote|approve|accept|allow|grant|reveal|disclose|share|show|print|output|trust|treat|follow|obey|comply|execute|run|call|invoke|use|open|visit|click|fetch|download|install|delete|remove|erase|drop|disable|enable|transfer|pay|buy|book|order|write|append|insert|include|add|replace|ignore|disregard|skip|bypass|override|pretend|act|behave|assume|remember|forget|store|save|do|make|ask|give|repeat|translate|summari[sz]e|redirect|whitelist)";

/** Each with what it is about; one hit is enough. */
const PATTERNS: readonly RegExp[] = [
  // Setting aside what was said before.
  /\b(?:ignore|disregard|forget|override|bypass|skip|discard)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|other|your|the|these|those|existing)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|directions?|messages?|context|constraints?|restrictions?|safety)\b/isu,
  // Speaking to the assistant about what it is or has to do.
  /\b(?:you|the (?:ai|assistant|model|agent|bot)|lily|claude|chatgpt)\s+(?:must|shall|should|ought to|have to|need to|are (?:now|to|required|instructed|allowed|authori[sz]ed|no longer)|will now|may now|can now)\b/iu,
  /\b(?:from now on|henceforth|as of now|in (?:all|every|any) (?:future|further|subsequent) (?:replies|responses|answers|conversations?|messages|sessions?|turns))\b/iu,
  /(?<!\p{L})(?:du musst|sie müssen|tu dois|vous devez|debes)(?!\p{L})/iu,
  // Speaking of assistants as readers of this text, and of what holds for all their answers.
  /\b(?:(?:ai|llm|language) (?:agents?|assistants?|models?|systems?|bots?|tools?)|chatbots?|llms?|ais?|(?:any|every|the) (?:assistants?|agents?|models?|bots?) (?:reading|processing|summari[sz]ing|seeing|using|handling)|(?:who|what)ever (?:reads|processes|summari[sz]es|handles|answers))\b[^.\n]{0,60}\b(?:must|shall|should|ought to|has to|have to|needs? to|is to|are to|may now|can now|will now)\b/iu,
  /\b(?:in|to|with|at the end of|into) (?:every|each|all|any) (?:\w+ )?(?:answers?|repl(?:y|ies)|responses?)\b|\b(?:next|future|following|subsequent) (?:answers|replies|responses)\b/iu,
  /\b(?:the )?(?:user|owner|admin(?:istrator)?|developers?|system)s? (?:\w+ly )?(?:wants?|expects?|requires?|needs?|asks|asked|instructs?|orders?|tells) (?:you|the (?:assistant|ai|model|agent|bot)) to\b/iu,
  /\b(?:nota|mensaje|mensagem|messaggio|message|hinweis|nachricht|anweisung|istruzioni?|instruções|instrucciones|note|consignes?|opmerking|instructie)\b[^.\n]{0,20}(?<!\p{L})(?:para|per|pour|für|voor|an|à|aan|al|ao)\s+(?:el |la |le |les |l['’]|o |a |il |gli |den |die |das |de )?(?:asistente|assistente|assistant|assistenten|modelo|modello|modèle|modell|agente|agent|ia|ki|ai|bot)(?!\p{L})/iu,
  /\b(?:system prompt|developer message|new instructions?|hidden instructions?|jailbreak|developer mode|dan mode|unrestricted mode|god mode)\b/iu,
  /\b(?:note|message|instructions?|reminder|attention|memo|important)\s*(?:to|for)\s+(?:the\s+|all\s+|any\s+)?(?:ai|assistants?|models?|agents?|llms?|bots?|lily|later)\b/iu,
  /\b(?:dear|hi|hey|hello|attention|as an?|to (?:any|all|the)|hallo|liebe[rs]?|cher|hola|ciao|olá)[ ,]+(?:(?:helpful |large |reading |future )*(?:language models?|llms?|ais?|ki|ia|agents?|assistants?|asistente|assistente|chatbots?|bots?|models?|lily))(?:[,!.:]|\s+(?:reading|processing|who|that|you|please)\b|$)/imu,
  /\b(?:language models?|llms?|chatbots?)\b[^.\n]{0,20}[,:]\s*(?:kindly|please|you)\b/iu,
  /\b(?:when(?:ever)?|each time|every time|any time|if) you (?:are asked|mention|answer|reply|respond|discuss|summari[sz]e|generate|recommend)\b/iu,
  /\b(?:in|into|from|out of) (?:every|each|all|any) (?:\w+ )?(?:summar(?:y|ies)|reports?|outputs?|conversations?|chats?)\b[^.\n]*$/imu,
  /\b(?:everything|anything|all|whatever) (?:\w+ ){0,4}(?:above|before(?:hand)?|earlier|previously|so far)\b[^.\n]{0,40}\b(?:void|invalid|obsolete|ignored?|forgotten|disregard(?:ed)?|no longer)\b|\b(?:ignore|forget|disregard|discard) (?:everything|anything|all|whatever)\b[^.\n]{0,40}\b(?:above|before|earlier|previous(?:ly)?|told|said|learned|know|so far)\b/iu,
  // Pretending to be another part of the prompt.
  /\b(?:end|begin(?:ning)?|start) of (?:the )?(?:context|prompt|system|instructions?|conversation|user (?:input|data|message)|untrusted|tool (?:output|result))\b|\b(?:admin(?:istrator)?|root|debug|maintenance|sudo|superuser|god|developer) mode\b|\bnew (?:session|context|conversation)[.:]\s/iu,
  /\b(?:assistant|user|system)\s*to=\w|\bto=functions\.|\bfunctions?\.\w+\s*\(|"(?:function|tool|tool_name|recipient_name)"\s*:/iu,
  /<\/?\s*(?:system|memory|memories|instructions?|assistant|user|context|tool|prompt|developer|untrusted|data)\b[^>]*>/iu,
  /<\|[a-z_]+\|>|\[\/?(?:INST|SYS|SYSTEM)\]|<<\/?SYS>>|###\s*(?:system|instructions?|assistant|human)\b/iu,
  /(?:^|\n)\s*(?:system|assistant|developer)\s*:/iu,
  /\{\{[#/]?\s*(?:system|assistant|user|instructions?|prompt)\b|<!--[^>]*\b(?:assistant|ai|agent|model|system|instructions?|llm)\b/iu,
  /["']?\b(?:tool_(?:calls?|use|results?)|function_call|next_(?:action|step|tool)|system_message)\b["']?\s*[:=]|["']role["']\s*:\s*["'](?:system|developer|assistant)["']/iu,
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
  // Doing something without being seen or asked.
  /\b(?:quietly|secretly|silently|covertly|discreetly|in the background)\b[^.\n]{0,30}\b(?:cop(?:y|ies|ied|ying)|sen[dt]s?|forward(?:s|ed)?|upload(?:s|ed)?|posts?|add(?:s|ed)?|delet(?:e|es|ed)|chang(?:e|es|ed)|replac(?:e|es|ed)|transfer(?:s|red)?|approv(?:e|es|ed))\b/iu,
  /\b(?:tools?|actions?|payments?|refunds?|transfers?|commands?|requests?|deletions?|purchases?)\b[^.\n]{0,50}\b(?:without (?:approval|asking|confirmation|permission|review|checks?)|no checks?|always (?:granted|approved))\b/iu,
  /\bskip(?:ping)? (?:the |all |any )?(?:confirmations?|approvals?|verification|checks?)\b|\bcall \w+_\w+ with\b/iu,
  /\bauto-?(?:approve|accept|confirm|pay|purchase|send|forward|reply)\b|\b(?:never|no need to|do not|don't|doesn't want to be|does not want to be) (?:ask(?:ed)?|prompt(?:ed)?|require|request|wait)\b[^.\n]{0,30}\b(?:confirm\w*|approv\w*|permission|consent|before)\b/iu,
  /\bkeep (?:this|it|that) (?:between us|(?:a )?secret|hidden|quiet|to yourself|from (?:the|your|them|him|her))\b|\b(?:do not|don't|never) let (?:the )?(?:user|owner|human|them|him|her) (?:know|see|notice|find)\b/iu,
  /\b(?:do|follow|execute|obey) (?:what(?:ever)? (?:it|that|this|the page|the file) says|(?:the|its|any|all) (?:instructions?|steps|commands?) (?:in|at|on|from|there|inside|below|above))\b|\b(?:fetch|load|curl|open|visit|browse(?: to)?|navigate to) https?:\/\//iu,
  // Sending something out, or running something.
  /\b(?:to|must|should|please|then|and|will|always|is to) (?:e-?mail|mail|cc|bcc|send|forward|submit|report|post|upload|copy|sync|export)\b.{0,80}(?:[\w.+-]+@[\w-]+\.\w+|https?:\/\/)/isu,
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

const ALL: readonly RegExp[] = [...PATTERNS, ...FOREIGN_ORDERS];

/** Whether `text` reads like an instruction to an assistant. Judges wording only: who said it is for the caller. */
export function isInstructionLike(text: string): boolean {
  return readingsOf(text).some((reading) => ALL.some((pattern) => pattern.test(reading)));
}
