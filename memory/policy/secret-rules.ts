/** The table of what the gate knows as a secret by its shape or by the name in front of it; check digits are in `find-secrets.ts`. */
import type { PolicyRule } from "./verdict.ts";
import {
  BANK,
  BANK_ACCOUNT,
  BEGIN,
  DOCUMENT,
  END,
  HANDED_OUT,
  ID,
  LINK,
  NUMBER_WORD,
  OF,
  part,
  PASSWORD,
  PIN,
  RECOVERY_CODES,
  TOKEN,
  WALLET,
} from "./secret-words.ts";
import {
  chosenLength,
  codeListLength,
  groupedLength,
  isMasked,
  issued,
  machineMade,
  mixed,
  passwordLength,
  seedLength,
  shaped,
  withDigits,
} from "./secret-shape.ts";

export interface SecretRule {
  readonly name: string;
  readonly rule: PolicyRule;
  /** Global, with indices. The value is its first named group that matched, else all of the match. */
  readonly pattern: RegExp;
  /** How much of the value is the secret, in code units, given what stands before it in the match. All of it when absent. */
  readonly lengthOf?: (value: string, before: string) => number;
}

/** A pattern out of parts. */
const re = (source: TemplateStringsArray, ...parts: readonly string[]): RegExp =>
  new RegExp(part(source, ...parts), "dgiu");
const VALUE = part`(?<value>["'“‘]?`;
const SENT = part`${BEGIN}(?:sms|texted|by text|text message|verif\p{L}+|log-?in|sign-?in|2fa|authenticator|one-time|sent me|
  mailed me)${END}`;
const FIELD = part`(?:["']?\s*[:=]\s*["']?|>\s*)(?<value>[^\s"';,<>]{4,})`;
const CODE = "[a-z0-9]{4,12}(?:-[a-z0-9]{3,12}){0,4}";
const ACCOUNT_NUMBER = part`[A-Z]{0,5}\d(?:[ -]?\d){6,17})(?![\p{L}\d]|[.,]\d)`;
// Not a price, a measure or the beginning of a longer number.
const NO_COUNT = part`(?![\p{L}\p{N}]|[-.,:/]\d|\s*(?:%|€|\$|mm|cm|km|kg|min|years?|days?|hours?|people|euros?))`;

/** The rows. Where two find the same, the first one names it. */
export const SECRET_RULES: readonly SecretRule[] = [
  {
    name: "private key",
    rule: "private_key",
    pattern:
      /-----BEGIN (?:[A-Z0-9 ]{0,30} )?PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END[^-]*-----|$)|PuTTY-User-Key-File-\d[\s\S]*|(?<![\w-])AGE-SECRET-KEY-1[A-Z0-9]{20,}/dgu,
  },
  {
    name: "body of a private key, by how its DER begins (PKCS #1, PKCS #8, SEC 1, OpenSSH)",
    rule: "private_key",
    pattern:
      /(?<![A-Za-z0-9+/])(?:b3BlbnNzaC1rZXktdjE|MII[A-Z][A-Za-z0-9+/]{2}IBA(?:AK|DANBgkqhkiG9w0BAQ)|MHcCAQEEI|MHQCAQEEI|MIG[a-z]AgEBB|MIHcAgEBB|MI[GH][A-Za-z0-9+/]AgEAMB|MC4CAQAwBQYDK2V)[A-Za-z0-9+/=\r\n]{25,}/dgu,
  },
  {
    name: "private key of a wallet",
    rule: "private_key",
    pattern: re`(?<=${BEGIN}(?:private|secret|signing|wallet|key|seed)${END}[^\n]{0,40})(?<value>0x[0-9a-f]{64})${END}|
      (?<![\p{L}\p{N}])0x[0-9a-f]{64}(?=[^\n]{0,20}(?:private|secret) key)`,
  },
  {
    name: "JWT",
    rule: "jwt",
    pattern: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/dgu,
  },
  {
    name: "address with a password",
    rule: "url_credentials",
    pattern: /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@?#]*:(?<value>[^\s/@]+)@(?=[^\s/@])/dgiu,
  },
  {
    name: "address that carries its own permission",
    rule: "credential",
    pattern:
      /[?&](?:sig|signature|x-amz-signature|x-goog-signature|access_token|auth_token|id_token|token|api_?key|client_secret|secret|password|passwd|pwd)=(?<value>[^&\s#"']{8,})|\/(?:web)?hooks?\/[^\s"']*?(?<hook>[\w-]{24,})(?![\w/-])/dgiu,
    lengthOf: mixed,
  },
  {
    name: "key id of AWS",
    rule: "secret_key",
    pattern: /(?<![\p{L}\p{N}])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![\p{L}\p{N}])/dgu,
  },
  {
    name: "password behind its name",
    rule: "password",
    pattern: re`(?:(?:${PASSWORD}|${BEGIN}(?:pw|pass)(?=[^\n:=]{0,40}[:=]))${OF}${LINK}|
      (?<=${BEGIN}(?:log-?in|user(?:name)?)${END}[^\n]{1,40})${PASSWORD}\s+)(?<value>[^\n]+)`,
    lengthOf: passwordLength,
  },
  {
    name: "password that only looks like one",
    rule: "password",
    pattern: re`(?:${PASSWORD}|${BEGIN}(?:pw|pass))(?:\s+[\p{L}\d'’-]+){0,2}(?:${LINK}|,\s*)(?<value>\S+)|
      ${PASSWORD}\s+(?<bare>["'‘“\x60][^"'’”\x60\n]{4,}["'’”\x60]|\S{6,})`,
    lengthOf: (value) => (/^["'‘“`]/u.test(value) && !isMasked(value) ? value.length : shaped(5)(value, "")),
  },
  {
    name: "password in front of its name",
    rule: "password",
    pattern: re`(?<!\S)(?<value>\S{5,60})
      (?=\s+(?:is|was|as|ist|als|est|es)\s+(?:(?:my|the|our|its|his|her|mein|mon|mi)\s+(?:\S+\s+){0,2})?${PASSWORD})`,
    lengthOf: shaped(5),
  },
  {
    name: "login with its password",
    rule: "password",
    pattern: re`(?:(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|
      ${BEGIN}(?:credentials?|log-?in(?: data)?|zugangsdaten|identifiants|accesso)${END}[:\s]+\S+)\s*[/:|,]\s*(?<value>\S{6,})`,
    lengthOf: shaped(6),
  },
  {
    name: "PIN, one-time code, code of a card or a lock",
    rule: "password",
    pattern: re`${BEGIN}${PIN}${OF}(?:${LINK}|,?\s+)${VALUE}\d(?:[ -]?\d){2,7}[A-Z]?)${NO_COUNT}`,
  },
  {
    name: "code that was sent",
    rule: "password",
    pattern: re`(?:(?<=${SENT}[^\n]{0,60})|(?=[^\n]{0,80}${SENT}))${BEGIN}code${END}[^\n\d]{0,30}?
      (?<value>\d{3} ?\d{3}|\d{4,8})${NO_COUNT}|
      (?<![\p{L}\p{N}-])(?<first>(?:[A-Z]-)?\d{4,8})
      (?=\s+(?:is|was|ist)\s+(?:my|your|the|mein|dein|der)\s+(?:\S+\s+){0,3}?(?:code|\p{L}+code|pin)${END})`,
  },
  {
    name: "digits on the back of a card",
    rule: "password",
    pattern: re`(?:digits|number|code) on the (?:back|front|reverse)
      (?:\s+of\s+[^\s:=]+(?:\s+[^\s:=]+){0,3}?)?(?:${LINK}|\s+)(?<value>\d{3,4})${NO_COUNT}`,
  },
  {
    name: "code that opens or ends something",
    rule: "password",
    pattern: re`${BEGIN}(?:keypad|doors?|gate|garage|alarm|entry|entrance|intercom|building|safe|lock|vault|phone|tablet|sim|
      tür\p{L}*|tor|haustür|porte|portail|puerta|porta|дверь|домофон)${END}
      (?:[^\n]{0,40}?(?<![\p{L}\p{N}#])(?<value>[*#]?\d{4,8}[#*]|[*#]\d{4,8})${END}|
      [^.\n]{0,30}?\b(?:off|opens?|opened|unlocks?|unlocked|disarms?|disarmed)\s+(?:with|by|using)\s+(?:code\s+)?(?<opens>\d{4,8})${NO_COUNT})`,
  },
  {
    name: "combination of a lock",
    rule: "password",
    pattern: re`${BEGIN}(?:
      combinations?|combinaci[óo]n|combinaison|combinazione|combinação|(?:zahlen)?kombination|комбинация|szyfr|code (?:for|of|to) the safe)
      ${END}[^\n\d]{0,40}?(?<![\p{L}\p{N}])(?<value>\d{1,2}(?:\s?[-–/.]\s?\d{1,2}|[, ]\s?\d{1,2}){2,3})
      (?![\p{L}\p{N}]|[-.,/]\d)`,
  },
  {
    name: "key, token or cookie behind its name",
    rule: "credential",
    pattern: re`${BEGIN}${TOKEN}${OF}(?:${LINK}|\s+)(?<value>\S+)`,
    lengthOf: machineMade(8),
  },
  {
    name: "something random near such a name",
    rule: "credential",
    pattern: re`(?<![\p{L}\p{N}/_.~+-])(?:(?<=(?:${BEGIN}${TOKEN}|${PASSWORD})${END}[^\n]{0,40})(?<value>[a-z0-9+/_.=~-]{16,})|
      (?<first>[a-z0-9+/_.=~-]{16,})(?![a-z0-9+/_.=~-])(?=[^\n]{0,40}?(?:${BEGIN}${TOKEN}|${PASSWORD})${END}))`,
    lengthOf: machineMade(16),
  },
  {
    name: "password at the end, a few words behind its name",
    rule: "password",
    pattern: re`(?:${PASSWORD}|${BEGIN}(?:pw|pass))(?:\s+[\p{L}\d'’-]+,?){0,4}?
      (?<!${BEGIN}(?:on|in|for|of|at|to|with|from|by|via|auf|für|von))\s+(?<value>\S{6,}?)(?=[.,;!?)]*\s*(?:$|\n))`,
    lengthOf: chosenLength,
  },
  {
    name: "value that a service issued",
    rule: "secret_key",
    pattern: /(?<![^\s"'“”‘’`«»()[\]<>|,;])(?<value>[A-Za-z0-9][A-Za-z0-9_.:~+/-]{18,}={0,2})/dgu,
    lengthOf: issued,
  },
  {
    name: "variable, field or tag of a password",
    rule: "password",
    pattern: re`[\w.-]{0,40}(?:pass(?:word|wd|phrase)?|pwd|psk)s?${FIELD}`,
    lengthOf: shaped(4),
  },
  {
    name: "variable, field or tag of a key",
    rule: "credential",
    pattern: re`[\w.-]{0,40}(?:secret|token|(?:api|access|private|account)_?key|credential|sess(?:ion)?_?id|(?<![a-z])sid)s?${FIELD}`,
    lengthOf: shaped(4),
  },
  {
    name: "option of a command",
    rule: "password",
    pattern: re`\b(?:(?:mysql\w*|mariadb\w*|sshpass|mosquitto_\w+|mongo\w*|(?:docker|podman|helm registry|az|npm)\s+login)\b
      [^\n|;]*?\s(?:-p|--password[\s=])\s*["']?|
      (?:curl|wget|https?|xh)\b[^\n|;]*?\s(?:-u|--user|-a|--auth)[\s=]+["']?[^\s:'"]+:|
      (?:requirepass|masterauth|identified by|redis-cli\s[^\n|;]*?-a)\s+["']?)
      (?<value>[^\s'"-][^\s'"]{3,})`,
  },
  {
    name: "Wi-Fi code",
    rule: "password",
    pattern: /WIFI:[^\n]{0,120}?(?<=[:;])P:(?<value>(?:\\.|[^;\\\n]){4,})/dgu,
  },
  {
    name: "key in groups",
    rule: "credential",
    pattern: re`${BEGIN}${HANDED_OUT}${END}[^\n]{0,40}?(?<![\p{L}\p{N}-])
      (?<value>[a-z0-9]{4,8}([ -])[a-z0-9]{4,8}(?:\2[a-z0-9]{1,8}){2,})(?![\p{L}\p{N}-])`,
    lengthOf: groupedLength,
  },
  {
    name: "list of recovery codes",
    rule: "credential",
    pattern: re`${RECOVERY_CODES}${END}[^\n\d]{0,30}?(?<![\p{L}\p{N}-])
      (?<value>${CODE}(?:[ ,;/|\n]+${CODE})+)(?![\p{L}\p{N}-])`,
    lengthOf: codeListLength,
  },
  {
    name: "recovery phrase of a wallet",
    rule: "credential",
    pattern: re`${BEGIN}${WALLET}${END}[^\n]{0,30}?(?:${LINK}|\s)(?<value>\p{L}{3,9}(?:[ ,\n]+\p{L}{3,9}){11,25})${END}|
      ^\s*(?<alone>\p{L}{3,9}(?:[ ,\n]+\p{L}{3,9}){11,23})\s*$`,
    lengthOf: seedLength,
  },
  {
    name: "social security number of the USA, by its shape",
    rule: "national_id",
    pattern: /(?<![\d-])(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])/dgu,
  },
  {
    name: "number of a national or tax office behind its name",
    rule: "national_id",
    pattern: re`${ID}${NUMBER_WORD}(?!\p{Script=Latin})${OF}(?:${LINK}|,?\s*)(?:a?tin:?\s*)?
      ${VALUE}[A-Z]{0,6} ?\d[\dA-Z]*(?:[-./ ]?\d[\dA-Z]*){0,8}(?:[-./ ][A-Z](?![\p{L}\p{N}]))?)(?![\p{L}\d])`,
    lengthOf: withDigits(6),
  },
  {
    name: "permanent account number of India behind its name",
    rule: "national_id",
    pattern:
      /\bPAN(?:\s+(?:card|number|no\.?|is|card number|number is))?\s*[:=]?\s*["'‘“]?(?<value>[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z])(?![\p{L}\p{N}])/dgu,
  },
  {
    name: "number of a document behind its name",
    rule: "id_document",
    pattern: re`${BEGIN}${DOCUMENT}${NUMBER_WORD}${OF}(?:${LINK}|[,#]?\s*)(?<value>[A-Z]{0,6}\d[A-Z0-9-]{5,13})(?![\p{L}\d])`,
    lengthOf: withDigits(5),
  },
  {
    name: "bank account",
    rule: "bank_account",
    pattern: re`(?:${BEGIN}${BANK_ACCOUNT}|
      (?:(?<=${BEGIN}${BANK}${END}[^\n]{0,80})|(?=[^\n]{0,110}${BEGIN}${BANK}${END}))${BEGIN}(?:account|acct\.?|a\/c))
      ${NUMBER_WORD}(?:${LINK}|#?\s+)${VALUE}${ACCOUNT_NUMBER}`,
  },
];
