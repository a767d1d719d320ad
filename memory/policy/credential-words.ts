/** Words that announce a credential, and words that show that what follows is none. */

/** Their value is a secret whatever it looks like. */
const PASSWORD_WORDS = [
  "pass[- ]?word",
  "passwd",
  "palavra[- ]passe",
  "mdp",
  "pass[- ]?phrase",
  "pass[- ]?code",
  "pwd",
  "security answer",
  "answer to (?:the|my|our|his|her) security question",
  "(?:sudo|root|admin|log-?in|ssh|database|db|server|router|wi-?fi|e-?mail|account) pass",
  "(?:code|secret) ?word",
  "passwort",
  "codewort",
  "кодовое слово",
  "palabra secreta",
  "parola d['’]ordine",
  "mot secret",
  "kennwort",
  "mot de passe",
  "(?:wi-?fi|wlan)[- ](?:code|key|schlüssel)",
  "(?:code|clé) (?:du |de la )?(?:wi-?fi|wlan|box)",
  "contraseña",
  "contrasena",
  "wachtwoord",
  "senha",
  "lösenord",
  "hasło",
  "parola",
  "пароль",
  "كلمة المرور",
  "كلمة السر",
  "סיסמה",
  "पासवर्ड",
];

/** The same in scripts that write words together. */
const JOINED_PASSWORD_WORDS = ["密码", "密碼", "パスワード", "暗証番号", "비밀번호", "รหัสผ่าน"];

/** Their value is 4 to 8 digits. */
const PIN_WORDS = [
  "pin(?:[- ]?(?:code|number|nummer))?",
  "pass[- ]?code",
  "cvv2?",
  "cvc",
  "(?:door|gate|alarm|unlock|safe|garage|entry|access|building|house|lock|locker|bike|phone|voicemail|luggage|gym) ?codes?",
  "code pin",
  // "the code to Ola's flat": a place that is locked, within a few words.
  "(?:code|codice|c[óo]digo|код|kod) (?:for|of|to|at|от|до|do|zum|zur|für|vom|du|de|del|da|di)(?:\\s+[^\\s:=]+){0,3}?\\s+(?:l['’])?(?:safe|door|gate|alarm|lock|vault|garage|building|house|locker|flat|apartment|office|shed|attic|cellar|suitcase|phone|tablet|haustür|tür|tor|tresor|wohnung|büro|keller|koffer|handy|porte|immeuble|coffre|portail|cancello|подъезд\\p{L}*|домофон\\p{L}*|сейф\\p{L}*|drzwi|puerta|caja fuerte|portal|porta|cassaforte|portone|cofre)",
  "combination(?: (?:for|of|to) (?:the|my|our)(?: \\p{L}+){1,2})?",
  "(?:2fa|backup|recovery|verification|security|one[- ]time|otp|sms|unlock|tan)[- ]?codes?",
];

/** Their value is a secret only if it looks like one. */
const TOKEN_WORDS = [
  "(?:api|access|secret|private|auth|encryption|signing|license|licence|master|deploy|ssh|service|recovery|backup)[-_ ]?keys?",
  "(?:access|auth|api|bearer|refresh|session|bot|id|csrf|personal access|deploy)[-_ ]?tokens?",
  "token",
  "secret",
  "client[-_ ]?secret",
  "bearer",
  "credentials?",
  "apikey",
  "api[-_ ]?secret",
  "key",
  "recovery code",
  "backup code",
  "otp",
  "seed phrase",
  "authorization",
  "schlüssel",
  "clé(?: api)?",
  "clave(?: de api)?",
  "zugangsschlüssel",
  "geheimnis",
  "2fa secret",
  "totp secret",
  "webhook secret",
];

const asGroup = (words: readonly string[]): string => `(?:${words.join("|")})`;

/** Begins a word, so that nothing is found inside another one. */
export const BEGIN = "(?<![\\p{L}\\p{N}])";

/** A password word where one begins. */
export const PASSWORD = `(?:${BEGIN}${asGroup(PASSWORD_WORDS)}|${asGroup(JOINED_PASSWORD_WORDS)})`;
export const PIN = asGroup(PIN_WORDS);
export const TOKEN = asGroup(TOKEN_WORDS);

/** A first word behind "password is" after which no password follows. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `a an the in on at by of to for from with under behind inside near my our your his her their its not no never always only
  also still now already just very too so as where which what who kept stored saved written hidden known shared managed
  generated created changed reset rotated required needed used protected encrypted hashed handled entered typed ask see use
  must should can may will has have was were be been being both either same different longer stronger shorter older newer
  about because when if unless until after before between over than more less all each every some any this that these
  those there here somewhere elsewhere up down out off gone lost forgotten at-least minimum maximum policy manager im in-der
  der die das ein eine nicht kein noch immer auf unter bei von mit dans sur sous avec pas le la les un une est en el los
  una no sobre por con und et y or and one two three four five six seven eight nine ten twelve at`.split(
    /\s+/u,
  ),
);

/** Words that describe a password and are none. */
export const HARMLESS_VALUES: ReadonlySet<string> = new Set(
  `strong weak safe secure insecure unique long short old new expired invalid valid wrong correct right bad good great simple
  complex complicated random secret private public personal important optional mandatory required empty blank unset none
  unknown missing unavailable confidential temporary permanent easy hard difficult impossible annoying okay ok fine ready
  true false yes no null undefined tbd todo redacted removed hidden masked pending disabled enabled stored saved forgotten
  sensitive terrible awful boring outdated compromised leaked breached due case-sensitive alphanumeric numeric sicher stark
  schwach lang kurz alt neu geheim abgelaufen fort faible long court vieux nouveau secret expiré bitwarden 1password lastpass
  keepass keepassxc dashlane keychain vault passkey passkeys passwordless`.split(/\s+/u),
);
