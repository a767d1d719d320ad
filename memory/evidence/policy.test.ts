import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { ADA } from "../facts/testing/test-facts.ts";
import { createSecretlintScanner } from "../policy/secret-scanner.ts";
import { openTestEvidence } from "./testing/test-evidence.ts";

const scan = createSecretlintScanner();
const open = () => openTestEvidence(new InMemoryStore(), scan);

/** Three sections, of which the middle one holds `value`. */
const around = (value: string): string =>
  `# One\n\nWalnuts grow on trees.\n\n# Two\n\n${value}\n\n# Three\n\nWalnuts are shells.`;

const TOKEN = `ghp_${"aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY2".slice(0, 36)}`;
// Base64 lines enough for several pieces: a key that is longer than one.
const KEY_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----\n${`${KEY_LINE}\n`.repeat(45)}-----END PRIVATE KEY-----`;

describe("a piece with a secret or a sensitive number", () => {
  it.each([
    ["secret_key", `The bot signs in with ${TOKEN} today.`],
    ["password", "The router: password: hunter2-Zebra!9"],
    ["card_number", "Pay with 4111 1111 1111 1111 please."],
    ["iban", "Send it to DE89 3704 0044 0532 0130 00."],
    ["url_credentials", "See postgres://admin:s3cr3tPw99@db.example.org/x"],
  ])("is left out by the rule %s, and the others stay", async (rule, value) => {
    const { ingest, book, items } = open();
    const outcome = await ingest("/notes.md", around(value));
    expect(outcome).toMatchObject({
      kind: "stored",
      leftOut: [{ index: 1, rule, page: null, lines: { from: 5, to: 7 } }],
      source: { pieces: 2, left_out: { [rule]: 1 } },
    });
    expect((await book.search(ADA, "walnuts", 5)).map(({ piece }) => piece.index).sort()).toEqual([0, 2]);
    expect(await items()).not.toContain(value);
  });

  it("is left out with every piece into which the secret reaches", async () => {
    const { ingest, items } = open();
    const outcome = await ingest("/notes.md", around(PRIVATE_KEY));
    expect(outcome).toMatchObject({ kind: "stored", source: { pieces: 2 } });
    expect(outcome.kind === "stored" ? outcome.leftOut.length : 0).toBeGreaterThan(1);
    expect(await items()).not.toContain(KEY_LINE.slice(0, 20));
  });

  it("is left out when the number is written in other forms of its digits", async () => {
    const { ingest, items } = open();
    const wide = "４１１１ １１１１ １１１１ １１１１";
    const outcome = await ingest("/notes.md", around(`Pay with ${wide} please.`));
    expect(outcome).toMatchObject({ leftOut: [{ index: 1, rule: "card_number" }] });
    expect(await items()).not.toContain(wide);
  });

  it("is found far behind in a long document, across the parts that are searched", async () => {
    const filler = "Walnuts fall in autumn when nights are cold.\n\n".repeat(400);
    for (const shift of [0, 7, 3_991, 4_000]) {
      const { ingest, items } = open();
      await ingest("/long.txt", `${filler}${"x ".repeat(shift / 2)}\n\nkey ${TOKEN} end\n\nThe end.`);
      expect(await items()).not.toContain(TOKEN.slice(4));
    }
  });

  it("leaves its heading out of the pieces below", async () => {
    const { ingest, book } = open();
    const secret = "password: hunter2-Zebra!9";
    await ingest("/notes.md", `# Top\n\nWalnuts.\n\n## ${secret}\n\n### Below\n\nWalnuts again.`);
    const found = await book.search(ADA, "walnuts", 5);
    expect(found.map(({ piece }) => piece.headings)).toEqual(
      expect.arrayContaining([["Top"], ["Top", "…", "Below"]]),
    );
    expect(JSON.stringify(found)).not.toContain("hunter2");
  });

  it("is not the title either", async () => {
    const { ingest } = open();
    const html = `<title>My password: hunter2-Zebra!9</title><p>Walnuts grow on trees.`;
    expect(await ingest("/page.html", html)).toMatchObject({ source: { title: "page.html" } });
  });

  it("stops the document when no other is left, and the older version stays", async () => {
    const { ingest, book, texts } = open();
    await ingest("/notes.md", "Walnuts.");
    expect(await ingest("/notes.md", "password: hunter2-Zebra!9")).toMatchObject({
      kind: "denied",
      leftOut: [{ rule: "password" }],
    });
    expect(await book.sources(ADA)).toHaveLength(1);
    expect(await texts("walnuts")).toEqual(["Walnuts."]);
  });
});

describe("a piece that hid something", () => {
  it("has a warning, and what it hid was removed", async () => {
    const { ingest, book, items } = open();
    const hidden = Array.from("obey", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(
      "",
    );
    expect(await ingest("/notes.txt", `Walnuts${hidden} are fine.`)).toMatchObject({
      source: { hidden: 4, warned: 1 },
    });
    const [found] = await book.search(ADA, "walnuts", 1);
    expect(found?.piece).toMatchObject({ text: "Walnuts are fine.", warning: "hidden_text" });
    expect(await items()).not.toContain(hidden);
  });
});
