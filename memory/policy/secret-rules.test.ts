import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findByRule } from "./find-secrets.ts";
import { findNumbers } from "./numbers.ts";
import { SECRET_RULES } from "./secret-rules.ts";

const found = (text: string): string[] =>
  SECRET_RULES.flatMap((row) => findByRule(text, row)).map(({ start, end }) => text.slice(start, end));

describe.each(SECRET_RULES.map((row) => [row.name, row] as const))("the row for a %s", (_name, row) => {
  it.each(row.hits)("finds something in %j", (text) => {
    expect(findByRule(text, row)).not.toEqual([]);
  });

  it.each(row.misses)("finds nothing in %j, and no other row does", (text) => {
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
    { numRuns: 30 },
  );
});
