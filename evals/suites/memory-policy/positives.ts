/** Texts that the policy gate has to stop, by rule. Every value is made up or a published test value. */
import { glue, stopped, type PolicyCase } from "./policy-case.ts";

const HEX = "4f1c9a7e2b8d6035";
const MIXED = "Zk9QwT3rLm8XvB2nYp6HsD4j";

const SECRET_KEYS = stopped("secret_key", [
  `my github token is ${glue("gh", "p_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx")}`,
  `slack bot ${glue("xo", "xb-", "2345234524-2345234524-abcdefabcdefabcdefabcdef")}`,
  `npm publishes with ${glue("np", "m_", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d")}`,
  `sendgrid ${glue("S", "G.", "APhb3zgjtx3hajdas1TjBB.", "H7Xgbba3afgKSyB442aDK0kpGO3SD332313-L5528Kewhere")}`.replace(
    "where",
    "",
  ),
]);

const PRIVATE_KEYS = stopped("private_key", [
  glue("-----BEGIN ", "RSA PRIVATE KEY-----\nMIIBOgIBAAJBAK", MIXED, "\n-----END RSA PRIVATE KEY-----"),
  glue("keep this: -----BEGIN ", "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA", MIXED),
  glue("-----BEGIN ", "PRIVATE KEY-----\n", MIXED, MIXED, "\n-----END PRIVATE KEY-----"),
  glue("-----BEGIN PGP ", "PRIVATE KEY BLOCK-----\n\nlQOYBF", MIXED),
  glue("my age key ", "AGE-SECRET-", "KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KH"),
]);

const JWTS = stopped("jwt", [
  glue("ey", "JhbGciOiJIUzI1NiJ9", ".ey", "JzdWIiOiJ0ZXN0In0", ".dGhpc2lzbm90YXNpZ25hdHVyZQ"),
  glue(
    "the session cookie is ey",
    "JhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.ey",
    "JuYW1lIjoiQWRhIn0",
    ".c2lnbmF0dXJlLW9mLXRoZS10ZXN0",
  ),
]);

const PASSWORDS = stopped("password", [
  "password: hunter2",
  "my password is swordfish",
  "wifi password is Plum-Kettle-9",
  "the password for the router is admin1234",
  "Netflix password = moonlight77",
  "my password is correct horse battery staple",
  "passphrase: winter lantern orange bicycle",
  "pwd hunter2!",
  "The admin password was changed to T!ger-Lily-42",
  "my laptop password: qwertz",
  "Login: rae@example.org / W!nter2024",
  "use the password 'Blue Harbour 7' for the guest network",
  'my password is "open sesame"',
  "Password for the NAS -> Kestrel99",
  "passcode is 773311",
  "my PIN is 4821",
  "PIN: 0007",
  "bank card pin 9134",
  "the door code is 2580#".replace("#", ""),
  "alarm code: 55 12 90",
  "CVV 123 on the back",
  "Das Passwort lautet Sommer2024!",
  "Mein Passwort ist Apfelkuchen",
  "Kennwort: blaubeere",
  "mon mot de passe est tournesol",
  "Mot de passe : Citron-2025",
  "mi contraseña es girasol99",
  "mijn wachtwoord is fiets123",
  "minha senha é abacaxi7",
  "пароль: солнышко5",
  "我的密码是 tianqi2024",
  "パスワードは sakura77",
  "pass\u200bword: hunter2",
  "ｐａｓｓｗｏｒｄ： hunter2",
  "remember my old password hunter2 please",
  "her password is still Mango#Tree",
]);

const CREDENTIALS = stopped("credential", [
  `api key is ${glue("sk-", "test-1234567890abcdefABCDEF")}`,
  `API_KEY=${HEX}${HEX}`,
  `the access token is ${MIXED}`,
  `Authorization: Bearer ${MIXED}${HEX}`,
  `client_secret: ${MIXED}`,
  `secret key ${HEX}${HEX}`,
  `${MIXED} is my api key`,
  `our webhook secret is ${glue("wh", "sec_")}${MIXED}`,
  `deploy token: ${glue("dt-", HEX)}`,
  `the encryption key for backups is ${HEX}`,
  `recovery code is ${glue("8F3K-", "22LM-", "Q9T1")}`,
  `license key: ${glue("X7KQ2-", "M4P9Z-", "T8W3R-", "L6V1B")}`,
  `der Schlüssel ist ${MIXED}`,
  `la clé api est ${MIXED}`,
  `token=${glue("tok_", "live_", HEX)}`,
  `auth token for the bot ${glue("9182734650:", "AAE", MIXED)}`,
  `AWS secret ${glue("wJalr", "XUtnFEMI/K7MDENG/bPxRfiCY", "zzTESTKEY")}`,
  `session token ${HEX}-${HEX}`,
  `Stripe key ${glue("rk_", "test_", MIXED)}`,
  `bearer ${MIXED}`,
]);

const URLS = stopped("url_credentials", [
  `connect with ${glue("postg", "res://app:", "q8Zr2LwP", "@db.example.com:5432/app")}`,
  `mongo is at ${glue("mongo", "db://svc:", "q8Zr2LwP", "@mongo.example.com:27017/app")}`,
  `clone ${glue("https://rae:", "q8Zr2LwP9x", "@git.example.com/repo.git")}`,
  `ftp is ${glue("ftp://upload:", "Harbour77", "@files.example.com/in")}`,
  `the feed ${glue("https://:", "k8Zr2LwP9x", "@feeds.example.com")}`,
  `smtp ${glue("smtps://mailer:", "Tulip4455", "@mail.example.com:465")}`,
]);

const CARDS = stopped("card_number", [
  `my visa is ${glue("4111 1111 ", "1111 1111")}`,
  `${glue("5555-5555-", "5555-4444")} is the company card`,
  `amex ${glue("3782 822463 ", "10005")}`,
  `card ${glue("60111111", "11111117")} expires 12/29`,
  `jcb ${glue("35301113", "33300000")}`,
  `diners ${glue("305693", "09025904")}`,
  `Kreditkarte ${glue("4012 8888 ", "8888 1881")}`,
  `ma carte est ${glue("4222222", "222222")}`,
  `pay with ${glue("2223 0031 ", "2200 3222")}`,
  `credit card: ${glue("6200 0000 ", "0000 0005")}`,
  `debit card ${glue("6304000", "000000000")}`,
  `card ４１１１１１１１１１１１１１１１`,
]);

const IBANS = stopped("iban", [
  `my account is ${glue("GB82 WEST ", "1234 5698 7654 32")}`,
  `IBAN: ${glue("DE89 3704 ", "0044 0532 0130 00")}`,
  `rent goes to ${glue("BE68 5390 ", "0754 7034")}`,
  `${glue("FR14200410100505", "00013M02606")} is for donations`,
  `konto ${glue("NL91ABNA", "0417164300")} bitte`,
  `iban ${glue("ch93 0076 ", "2011 6238 5295 7")}`,
  `mein Konto: ${glue("AT61 1904 ", "3002 3457 3201")}, bei der Bank`,
]);

const NATIONAL_IDS = stopped("national_id", [
  `my ssn is ${glue("078-", "05-", "1120")}`,
  `social security number ${glue("2190", "99999")}`,
  `SSN: ${glue("457 ", "55 ", "5462")}`,
  `mi DNI es ${glue("12345678", "Z")}`,
  `hetu ${glue("131052-", "308T")}`,
  `身份证 ${glue("11010519", "491231002X")}`,
  `PESEL ${glue("440514", "01359")}`,
  `my aadhaar is ${glue("2345 6789 ", "0124")}`,
  `NIE ${glue("X1234567", "L")}`,
]);

const DOCUMENTS = stopped("id_document", [
  `my passport number is ${glue("XG93", "82049")}`,
  `passport no. ${glue("L898", "902C3")}`,
  `driver's license: ${glue("D623", "4567")}`,
  `Reisepass Nr. ${glue("C01X0", "0T478")}`,
  `driving licence number is ${glue("MORGA", "753116SM9IJ")}`,
]);

const SIZES: PolicyCase[] = [
  ...stopped("empty", ["", "   ", "\u200b\u200b", "...", "\u{e0041}\u{e0042}"]),
  ...stopped("too_long", ["tea ".repeat(501), "x".repeat(9_000)]),
  ...stopped("not_one_fact", [
    "- likes tea\n- likes jazz\n- lives in Ghent",
    "1. first\n2. second\n3. third",
    "User: hello\nAssistant: hello, how can I help?",
  ]),
];

/** In the order of the rules. */
export const POSITIVES: readonly PolicyCase[] = [
  ...SECRET_KEYS,
  ...PRIVATE_KEYS,
  ...JWTS,
  ...PASSWORDS,
  ...CREDENTIALS,
  ...URLS,
  ...CARDS,
  ...IBANS,
  ...NATIONAL_IDS,
  ...DOCUMENTS,
  ...SIZES,
];
