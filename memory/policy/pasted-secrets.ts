/** Secrets in the form in which devices and services hand them out: Wi-Fi codes, bodies of key files, keys in groups, lists of recovery codes. */
import type { Finding, PolicyRule } from "./verdict.ts";

// The text that a Wi-Fi QR code holds: WIFI:T:WPA;S:name;P:password;;
const WIFI = /(WIFI:[^\n]{0,120}?(?<=[:;])P:)((?:\\.|[^;\\\n]){4,})/gu;

// How the DER of a private key begins in base64 (PKCS #1, PKCS #8, SEC 1, OpenSSH); a public key or a certificate begins otherwise.
const KEY_BODY =
  /()((?<![A-Za-z0-9+/])(?:b3BlbnNzaC1rZXktdjE|MII[A-Z][A-Za-z0-9+/]{2}IBA(?:AK|DANBgkqhkiG9w0BAQ)|MHcCAQEEI|MHQCAQEEI|MIG[a-z]AgEBB|MIHcAgEBB|MI[GH][A-Za-z0-9+/]AgEAMB|MC4CAQAwBQYDK2V)[A-Za-z0-9+/=\r\n]*)/gu;

const HANDED_OUT =
  "(?:keys?|codes?|seed|secret|recovery|backup|2fa|mfa|totp|otp|authenticator|schlüssel|\\p{L}*codes|clés?|claves?|códigos?|chiavi?|codici|ключи?|коды?)";
// At least four groups of one length with one separator; the last may be cut.
const GROUPS = new RegExp(
  `((?<![\\p{L}\\p{N}])${HANDED_OUT}(?![\\p{L}\\p{N}])[^\\n]{0,40}?(?<![\\p{L}\\p{N}-]))([a-z0-9]{4,8}(?:([ -])[a-z0-9]{4,8})(?:\\3[a-z0-9]{1,8}){2,})(?![\\p{L}\\p{N}-])`,
  "giu",
);
const CODE = "[a-z0-9]{4,12}(?:-[a-z0-9]{3,12}){0,4}";
const CODE_LIST = new RegExp(
  `((?:(?:recovery|backup|rescue|scratch|2fa|mfa|one-time|emergency)[- ]?(?:codes|keys)|(?:wiederherstellungs?|ersatz|notfall|backup|sicherungs?)-?codes|codes? de (?:secours|récupération|sauvegarde)|c[óo]digos? de (?:recuperaci[óo]n|recuperação|respaldo|reserva|segurança|emergencia)|codici di (?:backup|recupero|riserva|emergenza)|(?:резервны|аварийны|запасны)\\p{L}* код\\p{L}*|kody (?:zapasowe|odzyskiwania)|herstelcodes|备用代码|备份代码|備用碼|バックアップコード|백업 코드)(?![\\p{L}\\p{N}])[^\\n\\d]{0,30}?)(?<![\\p{L}\\p{N}-])(${CODE}(?:[ ,;/|\\n]+${CODE})+)(?![\\p{L}\\p{N}-])`,
  "giu",
);
// A code that ends with the key that a keypad wants.
const KEYPAD =
  /((?<!\p{L})(?:keypad|doors?|gate|garage|alarm|entry|entrance|intercom|building|safe|lock|vault|tür\p{L}*|tor|haustür|porte|portail|puerta|porta|дверь|домофон)(?!\p{L})[^\n]{0,40}?)(?<![\p{L}\p{N}#])([*#]?\d{4,8}[#*]|[*#]\d{4,8})(?![\p{L}\p{N}])/giu;

interface Form {
  readonly pattern: RegExp;
  readonly rule: PolicyRule;
  readonly isSecret: (value: string, before: string) => boolean;
}

// Of a lock with wheels or a dial, three or four numbers.
const COMBINATION =
  /((?<!\p{L})(?:combinations?|combinaci[óo]n|combinaison|combinazione|combinação|(?:zahlen)?kombination|комбинация|szyfr)(?!\p{L})[^\n\d]{0,40}?)(?<![\p{L}\p{N}])(\d{1,2}(?:\s?[-–/.]\s?\d{1,2}|[, ]\s?\d{1,2}){2,3})(?![\p{L}\p{N}]|[-.,/]\d)/giu;

const FORMS: readonly Form[] = [
  { pattern: WIFI, rule: "password", isSecret: () => true },
  { pattern: KEY_BODY, rule: "private_key", isSecret: (value) => value.length >= 40 },
  { pattern: GROUPS, rule: "credential", isSecret: isGroupedKey },
  { pattern: CODE_LIST, rule: "credential", isSecret: isCodeList },
  { pattern: COMBINATION, rule: "password", isSecret: () => true },
  { pattern: KEYPAD, rule: "password", isSecret: () => true },
];

/** Findings of values in such forms. */
export function findPasted(text: string): Finding[] {
  return FORMS.flatMap(({ pattern, rule, isSecret }) =>
    [...text.matchAll(pattern)].flatMap(({ 1: before = "", 2: value = "", index }): Finding[] => {
      const start = index + before.length;
      return isSecret(value, before) ? [{ rule, start, end: start + value.trimEnd().length }] : [];
    }),
  );
}

const LEAST_GROUPS = 4;

/** Whether groups of one length are in it, perhaps behind a word or two that the pattern took for groups. */
function isGroupedKey(value: string, before: string): boolean {
  if (/fingerprint|fingerabdruck|empreinte|public|öffentlich/iu.test(before)) return false;
  const groups = value.split(/[ -]/u);
  return groups.some((_group, at) => at <= groups.length - LEAST_GROUPS && isKey(groups.slice(at)));
}

/** Letters and digits are mixed in some of the groups; words are of many lengths, and dates have no letters. */
function isKey(groups: readonly string[]): boolean {
  const [size = 0] = groups.map((group) => group.length);
  const isEven = groups.every((group, index) => group.length === size || index === groups.length - 1);
  const isMixed = (group: string): boolean => /\d/u.test(group) && /\p{L}/u.test(group);
  return isEven && groups.filter(isMixed).length >= groups.length / 4;
}

const LEAST_CODE_CHARACTERS = 12;

/** Each code has a digit in it, and none is a year or a date. */
function isCodeList(value: string): boolean {
  const codes = value.split(/[ ,;/|\n]+/u);
  return (
    codes.join("").length >= LEAST_CODE_CHARACTERS &&
    codes.every((code) => /\d/u.test(code) && !/^(?:19|20)\d\d(?:-|$)/u.test(code))
  );
}
