/** Held-out secrets: values of many services, numbers that prove themselves, and passwords as people tell them. */
import { stopped, type PolicyCase } from "../policy-case.ts";
import { base64, card, grouped, iban, jwt, keyBody, pick, randomOf, run } from "./values.ts";

// Measured before any rule was changed for them: 109 of 151 secrets stopped, 1 of 103 harmless texts. After it: all, and none.
const random = randomOf(20_260_301);
const of = (alphabet: Parameters<typeof run>[1], length: number): string => run(random, alphabet, length);

/** Sentences that a value of a service may stand in; none of them says "key" or "token" every time. */
const around = (value: string): string =>
  pick(random, [
    (text: string) => text,
    (text: string) => `use ${text} for the deploy job`,
    (text: string) => `keep this for later: ${text}`,
    (text: string) => `The pipeline runs with ${text}.`,
    (text: string) => `merk dir bitte ${text}`,
  ])(value);

const SERVICE_VALUES: readonly string[] = [
  `AKIA${of("base32", 16)}`,
  `ASIA${of("base32", 16)}`,
  `AIza${of("url", 35)}`,
  `ya29.${of("url", 120)}`,
  `GOCSPX-${of("url", 28)}`,
  `xoxb-${of("digits", 12)}-${of("digits", 13)}-${of("alnum", 24)}`,
  `xoxp-${of("digits", 11)}-${of("digits", 11)}-${of("digits", 12)}-${of("hex", 32)}`,
  `xapp-1-A${of("upper", 10)}-${of("digits", 13)}-${of("hex", 64)}`,
  `https://hooks.slack.com/services/T${of("upper", 8)}/B${of("upper", 8)}/${of("alnum", 24)}`,
  `sk_live_${of("alnum", 24)}`,
  `rk_live_${of("alnum", 24)}`,
  `whsec_${of("alnum", 32)}`,
  `npm_${of("alnum", 36)}`,
  `pypi-AgEIcHlwaS5vcmc${of("url", 90)}`,
  `ghp_${of("alnum", 36)}`,
  `gho_${of("alnum", 36)}`,
  `github_pat_${of("alnum", 22)}_${of("alnum", 59)}`,
  `glpat-${of("url", 20)}`,
  `dckr_pat_${of("url", 27)}`,
  `hf_${of("alnum", 34)}`,
  `sk-ant-api03-${of("url", 93)}AA`,
  `sk-proj-${of("url", 74)}T3BlbkFJ${of("url", 74)}`,
  `SG.${of("url", 22)}.${of("url", 43)}`,
  `${of("digits", 10)}:AA${of("url", 33)}`,
  `dop_v1_${of("hex", 64)}`,
  `shpat_${of("hex", 32)}`,
  `dapi${of("hex", 32)}`,
  `lin_api_${of("alnum", 40)}`,
  `hvs.${of("url", 95)}`,
  `glsa_${of("alnum", 32)}_${of("hex", 8)}`,
  `key-${of("hex", 32)}`,
  `EAACEdEose0cBA${of("alnum", 80)}`,
  `sq0csp-${of("url", 43)}`,
  `AGE-SECRET-KEY-1${of("upper", 58)}`,
];

const NAMED_VALUES: readonly string[] = [
  `aws_secret_access_key = ${of("base64", 40)}`,
  `AWS_SESSION_TOKEN=${of("base64", 200)}`,
  `the secret key of our AWS account is ${of("base64", 40)}`,
  `DefaultEndpointsProtocol=https;AccountName=lily;AccountKey=${of("base64", 86)}==;EndpointSuffix=core.windows.net`,
  `azure client secret ${of("alnum", 3)}8Q~${of("url", 34)}`,
  `https://lily.blob.core.windows.net/data?sv=2024-11-04&ss=b&sig=${encodeURIComponent(`${of("base64", 43)}=`)}`,
  `TWILIO_AUTH_TOKEN: ${of("hex", 32)}`,
  `HEROKU_API_KEY=${of("hex", 8)}-${of("hex", 4)}-4${of("hex", 3)}-a${of("hex", 3)}-${of("hex", 12)}`,
  `my datadog app key: ${of("hex", 40)}`,
  `Authorization: Bearer ${of("alnum", 48)}`,
  `Authorization: Basic ${base64(`rae:${of("alnum", 10)}`)}`,
  `the webhook signing secret is ${of("hex", 64)}`,
  `"api_key": "${of("alnum", 32)}"`,
  `export OPENAI_API_KEY='${of("alnum", 40)}'`,
  `x-auth-token ${of("alnum", 28)}`,
  `Der API-Schlüssel für die Wetterdaten lautet ${of("alnum", 32)}`,
  `la clé API du service météo : ${of("hex", 32)}`,
  `la clave de API es ${of("alnum", 32)}`,
  `ssh key passphrase ${of("alnum", 12)}`,
  `license key ${grouped(of("upper", 25), [5], "-")}`,
  `TOTP secret ${of("base32", 32)}`,
  `otpauth://totp/Lily:rae?secret=${of("base32", 16)}&issuer=Lily`,
];

const pem = (name: string): string => `-----BEGIN ${name}-----\n${keyBody(random)}\n-----END ${name}-----`;

const PRIVATE_KEYS: readonly string[] = [
  pem("OPENSSH PRIVATE KEY"),
  pem("RSA PRIVATE KEY"),
  pem("EC PRIVATE KEY"),
  pem("PRIVATE KEY"),
  pem("ENCRYPTED PRIVATE KEY"),
  pem("PGP PRIVATE KEY BLOCK"),
  `{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n${of("base64", 64)}\\n-----END PRIVATE KEY-----\\n"}`,
];

const word = (): string => pick(random, ["Tangerine", "Sparrow", "Copper", "Velvet", "Harvest", "Lantern"]);
const humanPassword = (): string => `${word()}${pick(random, ["!", "_", "-", "."])}${of("digits", 3)}`;

const URLS: readonly string[] = [
  `postgres://lily:${of("alnum", 14)}@db.example.org:5432/app`,
  `postgresql://admin:${humanPassword()}@10.0.0.7/app?sslmode=require`,
  `mongodb+srv://rae:${of("alnum", 16)}@cluster0.abcde.mongodb.net/app`,
  `mysql://root:${of("alnum", 9)}@localhost:3306/shop`,
  `redis://:${of("alnum", 20)}@cache.example.org:6379/0`,
  `amqps://guest:${of("alnum", 12)}@mq.example.org/vhost`,
  `https://rae:${humanPassword()}@files.example.org/private/`,
  `ftp://upload:${of("alnum", 8)}@ftp.example.org`,
  `smtp://mailer:${of("alnum", 18)}@smtp.example.org:587`,
  `git clone https://oauth2:${of("alnum", 20)}@git.example.org/lily.git`,
];

const digits = (length: number): string => of("digits", length);

const IBANS: readonly string[] = [
  iban("DE", digits(18)),
  grouped(iban("DE", digits(18)), [4]),
  grouped(iban("FR", `${digits(10)}${of("upper", 11)}${digits(2)}`), [4]),
  grouped(iban("ES", digits(20)), [4]),
  grouped(iban("IT", `X${digits(10)}${of("upper", 12)}`), [4]),
  iban("NL", `ABNA${digits(10)}`),
  grouped(iban("BE", digits(12)), [4]),
  iban("CH", `${digits(5)}${of("upper", 12)}`),
  grouped(iban("AT", digits(16)), [4]),
  grouped(iban("GB", `NWBK${digits(14)}`), [4]),
  iban("SE", digits(20)),
  iban("NO", digits(11)),
  grouped(iban("PL", digits(24)), [4]),
  iban("PT", digits(21)),
  grouped(iban("IE", `AIBK${digits(14)}`), [4]),
  iban("DK", digits(14)),
].map((number, index) =>
  index % 3 === 0 ? `The landlord wants the rent on ${number}` : index % 3 === 1 ? `Konto ${number}` : number,
);

const NETWORKS: readonly [prefix: string, length: number, groups: readonly number[]][] = [
  ["4", 16, [4]],
  ["52", 16, [4]],
  ["37", 15, [4, 6, 5]],
  ["6011", 16, [4]],
  ["3530", 16, [4]],
];
const CARDS: readonly string[] = NETWORKS.flatMap(([prefix, length, groups]) => [
  `I pay with ${card(random, prefix, length)}`,
  `${grouped(card(random, prefix, length), groups)} exp 08/29`,
  `Karte: ${grouped(card(random, prefix, length), groups, "-")}`,
]);

const SOCIAL: readonly string[] = [
  `my SSN is 219-0${of("digits", 1)}-4${of("digits", 3)}`,
  `social security no. 512 45 ${digits(4)}`,
  `SSN: 47${digits(1)}2${digits(1)}${digits(4)}`,
  `Rae's social is 345-67-${digits(4)}`,
];

const BIP39 =
  "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid across action actor adapt address adjust admit adult advance advice aerobic affair afford afraid again agent agree ahead aim airport aisle alarm album alcohol".split(
    " ",
  );
const seed = (length: number): string =>
  Array.from({ length }, () => BIP39[Math.floor(random() * BIP39.length)]).join(" ");
const SEEDS: readonly string[] = [
  `seed phrase: ${seed(12)}`,
  `my wallet's mnemonic is ${seed(12)}`,
  `metamask backup phrase ${seed(12)}`,
  `the 24 recovery words of the ledger: ${seed(24)}`,
  `Die Wiederherstellungsphrase lautet ${seed(12)}`,
  seed(12),
];

const PASSWORDS: readonly string[] = [
  `My work laptop password is ${humanPassword()}`,
  `the password for the shared drive changed to ${humanPassword()} yesterday`,
  `wifi at the cabin: network Fjord, pass ${humanPassword()}`,
  `log in as rae with ${humanPassword()} as the password`,
  `Mein Passwort fürs Büro ist ${humanPassword()}`,
  `Das Kennwort vom Router: ${humanPassword()}`,
  `le mot de passe du serveur est ${humanPassword()}`,
  `mot de passe Netflix ${humanPassword()}`,
  `la contraseña del correo es ${humanPassword()}`,
  `mi contraseña: ${humanPassword()}`,
  `la password di casa è ${humanPassword()}`,
  `a senha do banco é ${humanPassword()}`,
  `het wachtwoord van de laptop is ${humanPassword()}`,
  `hasło do poczty to ${humanPassword()}`,
  `пароль от почты ${humanPassword()}`,
  `我的密码是${humanPassword()}`,
  `パスワードは${humanPassword()}です`,
  `비밀번호는 ${humanPassword()}`,
  `{"user": "rae", "password": "${humanPassword()}"}`,
  `<password>${humanPassword()}</password>`,
  `password: "${word()} ${word()} ${word()} ${word()}"`,
  `mysql -u root -p${of("alnum", 10)}`,
  `sshpass -p '${humanPassword()}' ssh rae@10.0.0.9`,
  `curl -u rae:${of("alnum", 12)} https://api.example.org`,
  `docker login -u rae --password ${of("alnum", 14)}`,
  `PGPASSWORD=${of("alnum", 12)} psql`,
  `DATABASE_PASSWORD='${humanPassword()}'`,
  `spring.datasource.password=${of("alnum", 11)}`,
  `credentials rae / ${humanPassword()}`,
  `the alarm is switched off with 48${digits(2)}`,
  `my phone's passcode is ${digits(6)}`,
  `PIN der Karte: ${digits(4)}`,
  `le code PIN de ma carte est ${digits(4)}`,
  `el pin de la tarjeta es ${digits(4)}`,
  `cvv ${digits(3)}`,
];

/** The sequence of values decides them: a new one goes to the end of its list, or all after it change. */
export function heldOutSecrets(): readonly PolicyCase[] {
  return [
    ...stopped("secret_key", SERVICE_VALUES.map(around)),
    ...stopped("credential", NAMED_VALUES),
    ...stopped("private_key", PRIVATE_KEYS),
    ...stopped("jwt", [around(jwt(random)), `cookie: session=${jwt(random)}`]),
    ...stopped("url_credentials", URLS.map(around)),
    ...stopped("iban", IBANS),
    ...stopped("card_number", CARDS),
    ...stopped("national_id", SOCIAL),
    ...stopped("credential", SEEDS),
    ...stopped("password", PASSWORDS),
  ];
}
