import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Domain } from "../record.ts";
import { checkText, reviewRule } from "./check-text.ts";
import { maskSecrets } from "./find-secrets.ts";
import { POLICY_RULES } from "./verdict.ts";
import { createSecretlintScanner } from "./secret-scanner.ts";

const scan = createSecretlintScanner();
const judge = (text: string, isTrusted = true) => checkText(text, { scan, isTrusted });

describe("the policy gate", () => {
  it("names the rule and the way out, and repeats nothing of the text", async () => {
    const text = `wifi password is Plum-Kettle-9 and key ${["sk", "test", "1234567890abcdefABCDEF"].join("-")}`;
    expect(await judge(text)).toEqual({
      action: "deny",
      denial: {
        rule: "password",
        message: "not remembered: the text holds a password or PIN (rule password)",
        next: "Keep the value in a password manager, and remember where it is without the value itself.",
      },
    });
  });

  it("lets through what masking leaves of a text", async () => {
    for (const text of [
      "wifi password is Plum-Kettle-9",
      "PIN: 0007",
      "the card 4111 1111 1111 1111 is mine",
    ]) {
      const masked = await maskSecrets(text, scan);
      expect(masked).not.toBe(text);
      expect(await judge(masked)).toMatchObject({ action: "allow", text: masked });
    }
  });

  it("finds a secret behind hidden characters and full-width digits", async () => {
    expect(await judge("pass\u200bword: hunter2")).toMatchObject({ denial: { rule: "password" } });
    expect(await judge("card ４１１１１１１１１１１１１１１１")).toMatchObject({
      denial: { rule: "card_number" },
    });
  });

  it("finds a number in the digits of any script, with any dash or point between", async () => {
    for (const text of [
      "بطاقتي ٤١١١ ١١١١ ١١١١ ١١١١",
      "card ४१११११११११११११११",
      "4111–1111–1111–1111",
      "4111.1111.1111.1111",
    ])
      expect(await judge(text)).toMatchObject({ denial: { rule: "card_number" } });
  });

  it("finds a word that a kept joiner splits", async () => {
    expect(await judge("كلمة الس\u200dر: Zk9QwT3r")).toMatchObject({ denial: { rule: "password" } });
  });

  it("does not show the text around hidden characters when there is a secret in it", async () => {
    expect(JSON.stringify(await judge("password: hun\u200bter2"))).not.toMatch(/hun|ter2/u);
  });

  it("lets what changes Lily wait for a review, whatever its wording", () => {
    const rule = (domain: Domain, text: string) => reviewRule({ domain, text });
    for (const domain of ["persona_core", "working_rules"] as const)
      expect(rule(domain, "in any words")).toBe("instruction_like");
    expect(rule("user_profile", "The user wants Lily to ask no questions")).toBe("instruction_like");
    expect(rule("user_profile", "The user likes tea")).toBeNull();
    expect(rule("task_memory", "The release is in May")).toBeNull();
  });

  it("lets hidden characters that deceive wait for a review unless the owner wrote them", async () => {
    expect(await judge("nice shop\u202egro.live", false)).toMatchObject({
      action: "quarantine",
      rule: "hidden_text",
    });
    expect(await judge("nice shop\u202egro.live", true)).toMatchObject({ action: "allow" });
  });

  it("takes 2000 characters and not one more", async () => {
    expect(await judge("ab ".repeat(666).trim())).toMatchObject({ action: "allow" });
    expect(await judge("x".repeat(2000))).toMatchObject({ action: "allow" });
    expect(await judge("x".repeat(2001))).toMatchObject({ denial: { rule: "too_long" } });
    expect(await judge("💜".repeat(2000))).toMatchObject({ action: "allow" });
    expect(await judge("x".repeat(1_000_000))).toMatchObject({ denial: { rule: "too_long" } });
  });

  it("replaces half a surrogate pair", async () => {
    expect(await judge("caf\ud83d is open")).toMatchObject({ action: "allow", text: "caf\ufffd is open" });
  });

  it("gives an answer to any text, the same one each time, and never repeats what it refuses", async () => {
    const word = fc.constantFrom(
      "password",
      "is",
      ":",
      "=",
      "key",
      "token",
      "4111111111111111",
      "hunter2",
      "Zk9QwT3rLm8XvB2n",
      '"',
      "\n",
      "the",
      "\u200b",
    );
    const text = fc.oneof(
      fc.array(word, { maxLength: 12 }).map((words) => words.join(" ")),
      fc.string({ unit: "binary", maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (raw, isTrusted) => {
        const [one, two] = [await judge(raw, isTrusted), await judge(raw, isTrusted)];
        expect(one).toEqual(two);
        if (one.action === "deny") {
          expect(Object.keys(POLICY_RULES)).toContain(one.denial.rule);
          expect(JSON.stringify(one)).not.toContain("4111111111111111");
        } else expect(one.text).toBe(one.text.normalize("NFC").trim());
      }),
      { numRuns: 100 },
    );
  });
});
