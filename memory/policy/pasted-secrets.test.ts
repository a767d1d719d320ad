import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPasted } from "./pasted-secrets.ts";

const found = (text: string): string[] => findPasted(text).map(({ start, end }) => text.slice(start, end));

describe("a secret as a device hands it out", () => {
  it.each([
    ["WIFI:T:WPA;S:Attic;P:maple\\;syrup;;", "maple\\;syrup"],
    ["2fa setup key 7r6d bjp4 mifq ebwh ih75", "7r6d bjp4 mifq ebwh ih75"],
    ["recovery code lbk1-cj7h-evdr-yfo7", "lbk1-cj7h-evdr-yfo7"],
    ["recovery codes: bc21a-44c0f e0ef0-e1471", "bc21a-44c0f e0ef0-e1471"],
    ["Codes de secours : 0734 4808 / 5992 4364", "0734 4808 / 5992 4364"],
    ["the garage keypad takes 5512#", "5512#"],
    ["combination of the lock: 38-12-24", "38-12-24"],
  ])("is found in %s", (text, value) => {
    expect(found(text)).toContain(value);
  });

  it.each([
    "the key fingerprint is ab12 cd34 ef56 ab78",
    "the backup codes are printed and in the blue folder",
    "recovery run 10 km, then 4x400 m",
    "the combination of basil and peach works",
    "the code review took from 2025-01-02 to 2025-02-03",
    "door 4 on floor 12 has a new bell",
    "key dates: 12 May, 3 June, 21 June",
  ])("is not in %s", (text) => {
    expect(found(text)).toEqual([]);
  });
});

describe("the body of a private key", () => {
  const options = { type: "pkcs8", format: "der" } as const;
  const bodies = [
    [
      "RSA, PKCS #1",
      generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({ type: "pkcs1", format: "der" }),
    ],
    ["RSA, PKCS #8", generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export(options)],
    [
      "EC, SEC 1",
      generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey.export({
        type: "sec1",
        format: "der",
      }),
    ],
    ["EC, PKCS #8", generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey.export(options)],
    ["Ed25519", generateKeyPairSync("ed25519").privateKey.export(options)],
  ] as const;

  it.each(bodies)("is known by its beginning: %s", (_what, der) => {
    expect(findPasted(`the first line is ${der.toString("base64").slice(0, 60)}`)).toMatchObject([
      { rule: "private_key" },
    ]);
  });

  it("is not taken for that of a public key", () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    for (const type of ["pkcs1", "spki"] as const)
      expect(found(publicKey.export({ type, format: "der" }).toString("base64"))).toEqual([]);
  });
});

it("is looked for in time that grows with the text, whatever it holds", () => {
  const unit = fc.constantFrom(
    "key ",
    "recovery codes ",
    "ab12",
    "1",
    "-",
    " ",
    "a",
    "/",
    "door ",
    "WIFI:P:",
    "MIIE",
    "combination ",
  );
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 6 }), (parts) => {
      const text = parts.join("").repeat(2_000).slice(0, 8_000);
      const startedMs = performance.now();
      findPasted(text);
      expect(performance.now() - startedMs).toBeLessThan(2_000);
    }),
    { numRuns: 30 },
  );
});
