import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findByRule, findNumbers } from "./find-secrets.ts";
import { SECRET_RULES } from "./secret-rules.ts";

const found = (text: string): string[] =>
  SECRET_RULES.flatMap((row) => findByRule(text, row)).map(({ start, end }) => text.slice(start, end));

/** By the name of a row: texts in which it finds something, and texts that are close and hold nothing. Escapes keep scanners of this repository off. */
const EXAMPLES: Readonly<
  Record<string, { readonly hits: readonly string[]; readonly misses: readonly string[] }>
> = {
  "private key": {
    hits: ["-----BEGIN \x50RIVATE KEY-----\nMIIB"],
    misses: ["-----BEGIN PUBLIC KEY-----\nMIIB"],
  },
  "body of a private key, by how its DER begins (PKCS #1, PKCS #8, SEC 1, OpenSSH)": {
    hits: ["\x4dC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    misses: ["the public one is MCowBQYDK2VwAyEAAAAAAAAAAAAAAAAAAAAAAAAAA"],
  },
  "private key of a wallet": {
    hits: [`my wallet's private key is 0x${"4c08".repeat(16)}`],
    misses: [`the payment went out as 0x${"4c08".repeat(16)}`, `my wallet is 0x${"4c08".repeat(10)}`],
  },
  JWT: {
    hits: ["\x65yJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0."],
    misses: ["a token begins with eyJ, as its header does"],
  },
  "address with a password": {
    hits: ["postgres://app:q8Zr2LwP@db.example.com/app"],
    misses: ["https://example.com:8080/a@b", "postgres://app:$PASSWORD@db.example.com/app"],
  },
  "address that carries its own permission": {
    hits: ["https://example.com/report?sig=a8Zr2LwP9xQ4"],
    misses: ["https://example.com/find?token=meaning-of-words"],
  },
  "key id of AWS": {
    hits: ["\x41KIAQWERTYUIOPASDFGH"],
    misses: ["AKIA is a prefix"],
  },
  "password behind its name": {
    hits: ["wifi password is Plum-Kettle-9", "Kennwort: blaubeere", "password for the NAS -> Kestrel99"],
    misses: ["my password is strong", "the password is in the vault", "wifi password is [password]"],
  },
  "password that only looks like one": {
    hits: ["my gmail pw is Harbor2020", "use the password 'Blue Harbour 7'", "pwd hunter2!"],
    misses: ["password manager on the phone", "password rules are in section 4.2"],
  },
  "password in front of its name": {
    hits: ["hunter2 is my password"],
    misses: ["Bitwarden is my password manager"],
  },
  "login with its password": {
    hits: ["Login: rae@example.org / W!nter2024"],
    misses: ["rae@example.org, born in 1990, likes tea"],
  },
  "PIN, one-time code, code of a card or a lock": {
    hits: ["my PIN is 4821", "TAN 482913", "CVV 123", "code for the safe is 471108"],
    misses: [
      "PIN numbers have four digits",
      "the code of the card game is open",
      "I pin 3 messages a day",
      "the zip code of Austin is 78701",
    ],
  },
  "code that was sent": {
    hits: ["the code I got by SMS is 483920", "G-482911 is your verification code"],
    misses: ["error code 5012 on the printer", "the code of conduct has 1200 words"],
  },
  "digits on the back of a card": {
    hits: ["the three digits on the back of my card are 482"],
    misses: ["the number on the back of the house is faded"],
  },
  "code that opens or ends something": {
    hits: ["the garage keypad takes 5512#", "the alarm goes off with 4821"],
    misses: ["door 4 on floor 12 has a new bell"],
  },
  "combination of a lock": {
    hits: ["combination of the lock: 38-12-24"],
    misses: ["the combination of basil and peach works"],
  },
  "key, token or cookie behind its name": {
    hits: ["the access token is Zk9QwT3rLm8X", "key 8fh2kq9wz", "session cookie: s%3A8fh2kq9wzLm"],
    misses: ["the key is under the mat", "the session key is cli:main", "the token limit is 4096"],
  },
  "something random near such a name": {
    hits: ["Zk9QwT3rLm8XvB2nYp6H is my api key"],
    misses: ["the key insight is in chapter-twelve-of-the-book"],
  },
  "password at the end, a few words behind its name": {
    hits: ["mot de passe Netflix Velvet_191", "пароль от почты Lantern_763"],
    misses: ["the password rotates with server2024"],
  },
  "value that a service issued": {
    hits: ["\x6epm_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d"],
    misses: ["sha256:9f86d081884c7d659a2feaa0c55ad015", "see the getting-started-with-typescript-5-guide"],
  },
  "variable, field or tag of a password": {
    hits: ["PGPASSWORD=s3cr3tpw", '"db_password": "s3cr3tpw"', "<password>s3cr3tpw</password>"],
    misses: ["DB_PASSWORD=$PASSWORD", "the bypass: 12 km"],
  },
  "variable, field or tag of a key": {
    hits: ["token=tok_live_4f1c9a7e", "JSESSIONID=A1B2C3D4E5"],
    misses: ["API_KEY=$LILY_KEY", "tokens: about 1200 a message"],
  },
  "option of a command": {
    hits: ["mysql -u root -pT0psecret", "curl -u rae:s3cr3tpw https://example.com"],
    misses: ["ssh -p 2222 example.com", "curl -u rae https://example.com"],
  },
  "Wi-Fi code": {
    hits: ["WIFI:T:WPA;S:Attic;P:maple;;"],
    misses: ["WIFI:T:nopass;S:Attic;;"],
  },
  "key in groups": {
    hits: ["2fa setup key 7r6d bjp4 mifq ebwh ih75"],
    misses: ["key dates: 12 May, 3 June", "the key fingerprint is ab12 cd34 ef56 ab78"],
  },
  "list of recovery codes": {
    hits: ["recovery codes: bc21a-44c0f e0ef0-e1471"],
    misses: ["the backup codes are printed and in the blue folder"],
  },
  "recovery phrase of a wallet": {
    hits: ["seed phrase: legal winner thank year wave sausage worth useful legal winner thank yellow"],
    misses: ["the recovery of my knee takes longer than the doctor said, and running has to wait for spring"],
  },
  "social security number of the USA, by its shape": {
    hits: ["078-05-1120"],
    misses: ["000-12-3456", "call 555-010-1234"],
  },
  "number of a national or tax office behind its name": {
    hits: ["my BSN is 111222333", "NINO QQ 12 34 56 C", "Steuernummer: 12/345/67890", "CPF 529.982.247-25"],
    misses: ["tax year 2024", "the tax office opens at 8", "my ID card expires 2030-01-01"],
  },
  "permanent account number of India behind its name": {
    hits: ["PAN card number ABCPE1234F"],
    misses: ["the PAN firmware is ABCDE1234F"],
  },
  "number of a document behind its name": {
    hits: ["my passport number is XG9382049", "driver's license: D6234567"],
    misses: ["my passport expires 2030-05-01", "my driving licence test is in May"],
  },
  "bank account": {
    hits: ["my bank account number is 3847283911", "sort code 20-00-00, account 55779911"],
    misses: ["my account number at the library is 55779911"],
  },
};

describe.each(SECRET_RULES.map((row) => [row.name, row] as const))("the row for a %s", (name, row) => {
  const { hits, misses } = EXAMPLES[name] ?? { hits: [], misses: [] };

  it("has examples", () => {
    expect(Math.min(hits.length, misses.length)).toBeGreaterThan(0);
  });

  it.each(hits)("finds something in %j", (text) => {
    expect(findByRule(text, row)).not.toEqual([]);
  });

  it.each(misses)("finds nothing in %j, and no other row does", (text) => {
    expect(found(text)).toEqual([]);
  });
});

const RANDOM = "q7Rz2Kp9Xv4Lm8Tn3Wb6Yc1D";
const WORDS = "ocean velvet gravity lunch border cattle spoon erupt museum fatal quantum tribe";

it.each([
  ["WIFI:T:WPA;S:Attic;P:maple\\;syrup;;", "maple\\;syrup"],
  ["recovery code lbk1-cj7h-evdr-yfo7", "lbk1-cj7h-evdr-yfo7"],
  ["Codes de secours : 0734 4808 / 5992 4364", "0734 4808 / 5992 4364"],
  ["spring.datasource.password = Qx7kP2mz", "Qx7kP2mz"],
  ['{"user": "rae", "password": "Harvest.087"}', "Harvest.087"],
  ["sshpass -p 'Tangerine-908' ssh rae@host", "Tangerine-908"],
  ["requirepass Qx7kP2mz9", "Qx7kP2mz9"],
  [`use xy_live_${RANDOM}, please`, `xy_live_${RANDOM}`],
  [`${RANDOM}${RANDOM.slice(0, 12)}`, `${RANDOM}${RANDOM.slice(0, 12)}`],
  [`https://a.example/b?page=2&sig=${RANDOM}&x=${RANDOM}`, RANDOM],
  [WORDS, WORDS],
  [`seed: ${WORDS}`, WORDS],
  [WORDS.replaceAll(" ", ", "), WORDS.replaceAll(" ", ", ")],
])("the value in %j is found without the words around it", (text, value) => {
  expect(found(text)).toContain(value);
});

it.each([
  "docker run -p 8080:80 nginx",
  "curl -u is deprecated",
  '{"password": "string"}',
  "<password>required</password>",
  "token=null",
  "recovery run 10 km, then 4x400 m",
  "the code review took from 2025-01-02 to 2025-02-03",
  "9fceb02d0ae598e95dc970b74767f19372d61af8",
  "b0e1f3a4-9c2d-4e5f-8a7b-1c2d3e4f5a6b",
  `https://docs.example.org/d/${RANDOM}${RANDOM}/edit`,
  `iVBORw0KGgoAAAANSUhEUg${RANDOM}`,
  "Screenshot_2026-03-14-15-42-33-123_com.example.app.png",
  "the seed catalogue lists early peas for cold gardens in the north every single spring",
  "apples pears plums cherries grapes melons lemons limes figs dates kiwis nuts",
  "my phone number is +1 415 555 2671",
  "my customer number is 12345678",
  "sin azúcar, 2 cucharadas",
  "since 4/14/1962 we live here",
  "the bank account has two owners",
])("nothing is found in %j", (text) => {
  expect(found(text)).toEqual([]);
});

it.each([
  ["NHS number 943 476 5919"],
  ["my SIN is 046 454 286"],
  ["personnummer 811228-9874"],
  ["fødselsnummer 01129955131"],
  ["AHV-Nummer 756.9217.0769.85"],
  ["mon numéro de sécurité sociale est 1 85 05 78 006 084 36"],
  ["CURP GODE561231HGRBLD04"],
  ["我的身份证号是11010519491231002X"],
  ["my NRIC is S1234567D"],
])("the number of a national office is found by its name: %s", (text) => {
  expect(SECRET_RULES.flatMap((row) => findByRule(text, row))).toContainEqual(
    expect.objectContaining({ rule: "national_id" }),
  );
});

it.each([
  ["RSSMRA85T10A562S is hers", "RSSMRA85T10A562S"],
  ["mi DNI 12345678Z", "12345678Z"],
  ["811228-9874", "811228-9874"],
])("a number of telling shape is found by its check digit: %s", (text, value) => {
  expect(findNumbers(text).map(({ start, end }) => text.slice(start, end))).toContain(value);
});

it("a number with a wrong check digit is none", () => {
  expect(findNumbers("529.982.247-26, 4111 1111 1111 1112, GB82 WEST 1234 5698 7654 33")).toEqual([]);
});

describe("the body of a private key", () => {
  const pkcs8 = { type: "pkcs8", format: "der" } as const;
  const rsa = (): ReturnType<typeof generateKeyPairSync> =>
    generateKeyPairSync("rsa", { modulusLength: 1024 });

  it.each([
    ["RSA, PKCS #1", rsa().privateKey.export({ type: "pkcs1", format: "der" })],
    ["RSA, PKCS #8", rsa().privateKey.export(pkcs8)],
    [
      "EC, SEC 1",
      generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey.export({
        type: "sec1",
        format: "der",
      }),
    ],
    ["EC, PKCS #8", generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey.export(pkcs8)],
    ["Ed25519", generateKeyPairSync("ed25519").privateKey.export(pkcs8)],
  ])("is known by its beginning: %s", (_what, der) => {
    const text = `the first line is ${der.toString("base64").slice(0, 60)}`;
    expect(SECRET_RULES.flatMap((row) => findByRule(text, row))).toContainEqual(
      expect.objectContaining({ rule: "private_key" }),
    );
  });

  it("is not taken for that of a public key", () => {
    for (const type of ["pkcs1", "spki"] as const) {
      const text = rsa().publicKey.export({ type, format: "der" }).toString("base64");
      const rules = SECRET_RULES.flatMap((row) => findByRule(text, row)).map(({ rule }) => rule);
      expect(rules).not.toContain("private_key");
    }
  });
});

it("every row is looked for in time that grows with the text, whatever it holds", () => {
  const unit = fc.constantFrom(
    ..."key |recovery codes |ab12|1|-| |a|/|door |WIFI:P:|MIIE|combination |password |is |code |account bank |a@b.c |tin |token=|seed |4 1|?sig=".split(
      "|",
    ),
  );
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 6 }), (parts) => {
      const text = parts.join("").repeat(2_000).slice(0, 8_000);
      const startedMs = performance.now();
      found(text);
      findNumbers(text);
      expect(performance.now() - startedMs).toBeLessThan(4_000);
    }),
    { numRuns: 15 },
  );
});
