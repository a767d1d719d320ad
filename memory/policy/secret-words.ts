/** The names by which secrets are announced, as parts of patterns; every pattern that uses them ignores case. */

/** A part of a pattern as it is written, over several lines. */
export const part = (source: TemplateStringsArray, ...parts: readonly string[]): string =>
  String.raw(source, ...parts).replaceAll(/\n\s*/gu, "");

/** Where a word begins and ends, in any script. */
export const BEGIN = part`(?<![\p{L}\p{N}])`;
export const END = part`(?![\p{L}\p{N}])`;

/** Of what it is: "for the router". */
export const OF = part`(?:\s+
  (?:for|to|of|on|at|in|für|vom|von|der|des|zum|zur|im|bei|beim|meiner|meines|du|de|pour|para|del|da|do|di|van|voor|od|от|для|к|в)
  \s+[^\s:=]+(?:\s+[^\s:=]+){0,3}?)?`;
const SIGN = part`\s*(?:[:=：＝]+>?|->|→)\s*`;
const VERB = part`(?:\s+(?:
  (?:is|was|has been|been)\s+(?:now\s+)?(?:changed|set|reset)\s+to|
  (?:is|are|ist|lautet|est|es)\s+(?:now|still|(?:ab\s+)?jetzt|maintenant|ahora)|
  is|was|are|becomes|ist|lautet|heißt|war|est|c['’]est|es|è|é|to|är|er|это|—|–|-
  )\s+|['’]s\s+|\s*(?:是|为|為|は|는|은)\s*)`;
/** What ties a name to its value: "is", ":" and their like. */
export const LINK = `(?:${SIGN}|${VERB})`;

/** Names of passwords, in the languages that have words of their own for them. */
export const PASSWORD = part`(?:${BEGIN}(?:
  pass[- ]?(?:word|wd|phrase|code)|pwd|(?:sudo|root|admin|log-?in|ssh|wi-?fi|e-?mail|account) pass|
  (?:code|secret) ?word|security answer|answer to (?:the|my) security question|
  (?:wi-?fi|wlan)[- ](?:code|key|schlüssel)|passwort|kennwort|codewort|wachtwoord|lösenord|
  mot de passe|mdp|(?:code|clé) (?:du |de la )?(?:wi-?fi|wlan|box)|
  contraseña|contrasena|palabra secreta|senha|palavra[- ]passe|parola(?: d['’]ordine)?|
  hasło|пароль|кодовое слово|كلمة (?:المرور|السر)|סיסמה|पासवर्ड
  )s?|密码|密碼|パスワード|暗証番号|비밀번호|รหัสผ่าน)`;

const LOCKED = part`(?:safe|door|gate|alarm|lock|vault|garage|building|house|locker|flat|apartment|office|suitcase|phone|
  tablet|tür|tor|tresor|wohnung|keller|koffer|handy|porte|immeuble|coffre|portail|portone|cancello|
  подъезд\p{L}*|домофон\p{L}*|сейф\p{L}*|drzwi|puerta|caja fuerte|portal|porta|cassaforte|cofre|
  (?:bank|credit|debit|sim)? ?card|\p{L}*karte|carte|tarjeta|cartão)`;
/** Names of what is 3 to 8 digits. */
export const PIN = part`(?:
  puk|pin(?:[- ]?(?:code|number|nummer))?|code pin|pass[- ]?code|(?:t|m)?tan|otp|cvv2?|cvc2?|combination|
  (?:card )?security code|card verification (?:value|number|code)|prüfziffer|cryptogramme|
  (?:door|gate|alarm|unlock|safe|garage|entry|access|building|house|lock|locker|bike|phone|voicemail|luggage|gym)[- ]?codes?|
  (?:2fa|mfa|otp|sms|backup|recovery|verification|security|one[- ]time|log-?in|confirmation|authentication)[- ]?codes?|
  (?:bestätigungs|sicherheits|einmal|tür|sms-)-?code|code de (?:vérification|sécurité|confirmation)|
  código de (?:verificación|seguridad)|
  (?:code|codice|c[óo]digo|код|kod) (?:for|of|to|at|от|до|do|zum|zur|für|vom|du|de|del|da|di)
  (?:\s+[^\s:=]+){0,3}?\s+(?:l['’])?${LOCKED})`;

/** Names of what a machine made. */
export const TOKEN = part`(?:
  (?:api|access|secret|private|auth|encryption|signing|licen[sc]e|master|deploy|ssh|service|recovery|backup|wpa2?|x-api)?
  [-_ ]?(?:keys?|tokens?|secrets?)|
  bearer|credentials?|apikey|authorization|(?:recovery|backup) code|(?:session|auth) ?(?:cookie|id)|cookie|
  schlüssel|geheimnis|clé(?: api)?|clave(?: de api)?)`;

/** Names of numbers by which states and their offices know a person. */
export const ID = part`(?:${BEGIN}(?:
  ssn|social security|itin|ein|tin|tax(?:payer)?(?: id(?:entification)?| file)?|sin|social insurance|tfn|
  national insurance|nino|ni number|nhs|utr|pps|ppsn|
  steuer-?(?:id|identifikations|nummer)|sozialversicherungs|sv-|svnr|ahv|avs|bsn|burgerservicenummer|
  rijksregisternummer|niss|insee|nir|num[ée]ro de sécurité sociale|num[ée]ro fiscal|codice fiscale|partita iva|
  dni|nie|nif|cpf|cnpj|curp|rfc|rut|cuil|cuit|
  person-?(?:nummer|nr)|f[øo]dselsnummer|cpr(?:-?nummer)?|hetu|henkilötunnus|isikukood|asmens kodas|personas kods|
  pesel|nip|regon|rodné číslo|cnp|egn|jmbg|oib|emšo|amka|afm|taj|инн|снилс|
  aadh?aar|teudat zehut|kimlik|emirates id|nric|hkid|individual number|mynumber|
  national id(?:entity)?|citizen id|personal id|identity card|id card
  )|身份证|身分證|マイナンバー|주민등록)`;
/** Names of documents with a number. */
export const DOCUMENT = part`(?:passport|passeport|pasaporte|passaporto|paspoort|reisepass|(?:personal)?ausweis|
  driver['’]?s? licen[cs]e|driving licen[cs]e|f[üu]hrerschein|permis de conduire|permiso de conducir|rijbewijs|
  green card|visa number|residence permit|aufenthaltstitel|titre de séjour)`;
/** "Number" behind one of those. */
export const NUMBER_WORD = part`(?:[\s-]*(?:
  card|number|no\.?|nr\.?|num\.?|nummer|num[ée]ro|número|numero|code|n[°º]|#|id|information|号码?|番号|번호))?`;

/** What banks call an account, and words that show that an account is one of a bank. */
export const BANK_ACCOUNT = part`(?:
  (?:bank|checking|chequing|savings|giro|current|payroll|direct deposit|payee|beneficiary)\s+(?:account|acct\.?|a\/c)|
  konto(?:nummer|nr\.?)?|
  (?:compte|cuenta|conto|conta)\s+(?:bancaire|bancaria|bancario|bancária|corrente|corriente))`;
export const BANK = part`(?:
  bank|sort code|routing|aba|bic|swift|blz|ifsc|neft|wire|direct deposit|iban|transfers?)`;

/** Names of keys and codes that are handed out in groups or lists. */
export const HANDED_OUT = part`(?:keys?|codes?|seed|secret|recovery|backup|2fa|mfa|totp|otp|authenticator|
  schlüssel|\p{L}*codes|clés?|claves?|códigos?|chiavi?|codici|ключи?|коды?)`;
export const RECOVERY_CODES = part`(?:
  (?:recovery|backup|rescue|scratch|2fa|mfa|one-time|emergency)[- ]?(?:codes|keys)|
  (?:wiederherstellungs?|ersatz|notfall|backup|sicherungs?)-?codes|herstelcodes|
  codes? de (?:secours|récupération|sauvegarde)|codici di (?:backup|recupero|riserva|emergenza)|
  c[óo]digos? de (?:recuperaci[óo]n|recuperação|respaldo|reserva|segurança|emergencia)|
  (?:резервны|аварийны|запасны)\p{L}* код\p{L}*|kody (?:zapasowe|odzyskiwania)|
  备用代码|备份代码|バックアップコード|백업 코드)`;
export const WALLET = part`(?:seed|recovery|mnemonic|backup|wallet|ledger|trezor|metamask|wiederherstellung\p{L}*|récupération|
  recuperación|semilla|мнемоник\p{L}*|кошел\p{L}*)`;

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/u));
/** Words that hold a sentence together: a password or a wallet's phrase has none. */
export const OF_SENTENCES = words(
  `a an the and or in on at by of to for from with under behind my your our his her their its not no never always only also
  still just very too so as are was were has had been if when because than that this but how who why see use ask must should
  can may will der die das und ein eine im ist nicht mit dans sur le la et un une en el los y con por het een van`,
);
/** Words that say something about a password. */
export const OF_PASSWORDS = words(
  `strong weak safe secure unique long short old new expired valid wrong correct secret private public random empty none
  unknown missing lost forgotten same different easy hard terrible due compromised kept stored saved written hidden known
  shared managed generated changed required needed used bitwarden 1password keepass vault liegt sicher`,
);
