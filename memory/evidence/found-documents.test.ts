/** Documents as people have them: what a table, list, log or page means survives cutting, and a quotation holds what was found. */
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "#src/kernel/text.ts";
import { ADA } from "../facts/testing/test-facts.ts";
import { createSecretlintScanner } from "../policy/secret-scanner.ts";
import { MAX_PIECE_TOKENS } from "./evidence-document.ts";
import { quoteOf } from "./quote.ts";
import { joinHyphens } from "./read-pdf.ts";
import { makePdf } from "./testing/make-pdf.ts";
import { openTestEvidence } from "./testing/test-evidence.ts";

const NAMES = "Ada Berta Chloe Dario Elif Farid Greta Hana Ivo Jun".split(" ");
const rows = (count: number, row: (index: number, name: string) => string): string[] =>
  Array.from({ length: count }, (_, index) => row(index, NAMES[index % NAMES.length] ?? ""));

/** Pieces in their order. */
async function piecesOf(path: string, content: string | Uint8Array) {
  const { ingest, store } = openTestEvidence();
  const outcome = await ingest(path, content);
  const items = await store.search(["evidence"], { limit: 1_000 });
  const pieces = items.flatMap(({ value }) => (typeof value["index"] === "number" ? [value] : []));
  pieces.sort((a, b) => Number(a["index"]) - Number(b["index"]));
  return { outcome, pieces, texts: pieces.map(({ text }) => String(text)) };
}

describe("E-2 passages of a long table begin with its header row", () => {
  const city = (index: number, name: string) => [`${name} ${index}`, "Porto", `${1_000 + index} francs`];
  const table = (separator: string, edge = "") =>
    rows(200, (index, name) => `${edge}${city(index, name).join(separator)}${edge}`);

  it.each([
    ["a Markdown table", "t.md", ["| Tenant | City | Rent |", "|---|---|---:|", ...table(" | ", "|")], 2],
    [
      "a Markdown table below prose",
      "t.md",
      ["# Rents", "", "All of them.", "", "| Tenant | City | Rent |", "|---|---|---|", ...table(" | ", "|")],
      2,
    ],
    ["commas", "t.csv", ["Tenant,City,Rent", ...table(",")], 1],
    [
      "semicolons, with groups of rows",
      "t.csv",
      [
        "Tenant;City;Rent",
        ...rows(200, (index, name) => `${city(index, name).join(";")}${index % 7 === 6 ? "\n" : ""}`),
      ],
      1,
    ],
    ["tabs", "t.tsv", ["Tenant\tCity\tRent", ...table("\t")], 1],
    [
      "quoted cells with commas in them",
      "t.csv",
      [
        '"Tenant","City","Rent"',
        ...rows(200, (index, name) => `"${name}, née ${index}","Porto","1,${index}"`),
      ],
      1,
    ],
    [
      "quoted cells of several lines",
      "t.csv",
      ["Tenant,City,Note", ...rows(200, (index, name) => `${name} ${index},Porto,"pays\nlate"`)],
      1,
    ],
    [
      "marks of inches",
      "t.tsv",
      ["Tenant\tCity\tScreen", ...rows(200, (index, name) => `${name} ${index}\tPorto\t15"`)],
      1,
    ],
    [
      "years as columns",
      "t.csv",
      ["Tenant,2024,2025", ...rows(300, (index, name) => `${name} ${index},${index},${index + 1}`)],
      1,
    ],
    [
      "aligned columns",
      "t.txt",
      [
        "Tenant       City    Rent",
        "-----------  ------  ----",
        ...rows(200, (index, name) => `${`${name} ${index}`.padEnd(13)}Porto   ${1_000 + index}`),
      ],
      2,
    ],
    [
      "a table of a database's terminal",
      "t.txt",
      ["  tenant   | city  | rent", "-----------+-------+------", ...table(" | ")],
      2,
    ],
  ])("%s", async (_name, path, lines, headerLines) => {
    const { texts, pieces } = await piecesOf(`/home/ada/${path}`, lines.join("\n"));
    const at = lines.findIndex((line) => /Tenant|tenant/u.test(line));
    const header = lines
      .slice(at, at + headerLines)
      .join("\n")
      .trim();
    const cut = texts.filter((text) => text.includes("Porto") || /,\d+,/u.test(text));
    expect(cut.length).toBeGreaterThan(2);
    for (const text of cut) {
      expect(text.trim().startsWith(header) || text === cut[0]).toBe(true);
      expect(text.split(header).length).toBe(2);
      expect(estimateTokens(text)).toBeLessThanOrEqual(MAX_PIECE_TOKENS);
    }
    const given = texts
      .join("\n")
      .match(/(?:Ada|Berta|Chloe|Dario|Elif|Farid|Greta|Hana|Ivo|Jun),? (?:née )?\d+/gu);
    expect(new Set(given).size).toBe(lines.length > 250 ? 300 : 200);
    // Its lines are those of its rows.
    const [first, second] = pieces;
    expect(second?.["lines"].from).toBeGreaterThan(first?.["lines"].to);
  });

  it("an HTML table", async () => {
    const html = `<h1>Rents</h1><table><thead><tr><th>Tenant<th>City<th>Rent</thead>${rows(200, (index, name) => `<tr><td>${name} ${index}<td>Porto<td>${index} francs`).join("")}</table>`;
    const { texts } = await piecesOf("/home/ada/t.html", html);
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) expect(text).toMatch(/^(?:# Rents\n+)?Tenant \| City \| Rent/u);
  });

  it("a table over pages of a PDF", async () => {
    const page = (from: number) => rows(40, (index, name) => `${name} ${from + index}\tPorto`).join("\n");
    const { texts, pieces } = await piecesOf(
      "/t.pdf",
      makePdf([`Tenant\tCity\n${page(0)}`, page(40), `Tenant\tCity\n${page(80)}`]),
    );
    expect(pieces.map((piece) => piece["page"])).toEqual([1, 2, 3]);
    for (const text of texts) expect(text.match(/Tenant +City/gu)).toEqual(["Tenant   City"]);
  });

  it.each([
    ["a log", "a.log", rows(200, (index) => `2026-03-01 10:00:${index}\tINFO\tstep ${index} is done`)],
    ["rows without names", "a.csv", rows(200, (index, name) => `${name},${index},Porto`)],
    [
      "lines of JSON",
      "a.jsonl",
      rows(200, (index, name) => JSON.stringify({ id: index, name, city: "Porto" })),
    ],
    ["a list", "a.md", rows(200, (index, name) => `- ${name}, room ${index}`)],
    [
      "prose",
      "a.txt",
      rows(200, (_, name) => `${name} came to Porto by train, and went on by ship; it rained.`),
    ],
  ])("and nothing is repeated in %s", async (_name, path, lines) => {
    const { texts } = await piecesOf(`/${path}`, lines.join("\n"));
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.join("\n").split(/\s+/u).join(" ")).toBe(lines.join("\n").split(/\s+/u).join(" "));
  });

  it("but a header with a secret is given to no passage", async () => {
    const { ingest, items } = openTestEvidence(new InMemoryStore(), createSecretlintScanner());
    const lines = ["Tenant,password: hunter2-Zebra!9,Rent", ...table(",")];
    expect(await ingest("/t.csv", lines.join("\n"))).toMatchObject({
      leftOut: [{ index: 0, rule: "password" }],
    });
    expect(await items()).not.toContain("hunter2");
  });
});

describe("E-3 a quotation holds what was found", () => {
  const many = (row: (index: number, name: string) => string, found: string) => {
    const all = rows(40, row);
    all[33] = found;
    return all;
  };
  it.each([
    [
      "a table",
      [
        "Tenant,City,Rent",
        ...many((index, name) => `${name} ${index},Porto,${index}`, "Walter,Zürich,1480"),
      ].join("\n"),
      "rent of walter",
      "Walter,Zürich,1480",
    ],
    [
      "a list",
      many((index, name) => `- ${name} waters the plants of floor ${index}`, "- Walter feeds the cat").join(
        "\n",
      ),
      "who feeds the cat",
      "Walter feeds the cat",
    ],
    [
      "a log",
      many(
        (index) => `2026-03-01 10:00:${index} INFO step ${index} done`,
        "2026-03-01 10:00:33 ERROR disk full",
      ).join("\n"),
      "disk full error",
      "ERROR disk full",
    ],
    [
      "JSON on one line",
      JSON.stringify(
        many((index, name) => `${name}-${index}`, "walter").map((id) => ({ id, city: "Porto" })),
      ),
      "walter",
      '"walter"',
    ],
    [
      "text without blanks",
      `${"東京都千代田区".repeat(60)}猫が好き${"大阪府大阪市".repeat(60)}`,
      "猫",
      "猫が好き",
    ],
    [
      "one long sentence",
      `${"and then we went on, ".repeat(40)}past the lighthouse, ${"and so on, ".repeat(40)}`,
      "lighthouse",
      "lighthouse",
    ],
    [
      "a word that is written without its accents",
      many((index, name) => `- ${name} ${index}`, "- Müller")
        .join("\n")
        .repeat(2),
      "Muller",
      "Müller",
    ],
    [
      "another form of a word",
      many((index, name) => `- ${name} ${index} is here`, "- all organisations").join("\n"),
      "organisational",
      "organisations",
    ],
  ])("of %s", (_name, text, query, held) => {
    for (const limit of [100, 300]) {
      const quote = quoteOf({ text, headings: [] }, query, limit);
      expect(quote).toContain(held);
      expect(quote.length).toBeLessThanOrEqual(limit + 10);
      expect(quote.isWellFormed()).toBe(true);
    }
  });

  it("with the row that names its columns", () => {
    const text = ["Tenant,City,Rent", ...rows(40, (index, name) => `${name} ${index},Porto,${index}`)].join(
      "\n",
    );
    expect(quoteOf({ text, headings: [] }, "greta 36", 100)).toMatch(
      /^Tenant,City,Rent … Greta 36,Porto,36 /u,
    );
  });
});

describe("E-4 what the layout of a PDF breaks", () => {
  it.each([
    ["compres-\nsor", "compressor"],
    ["The well-\nknown one, well-known indeed", "well known"],
    ["The long-\nterm plan, in the long run a term", "long term"],
    ["Mercedes-\nBenz", "Mercedes-Benz"],
    ["a state-of-the-\nart pump", "state of the art"],
  ])("%j is found by %j", async (page, query) => {
    const { ingest, book } = openTestEvidence();
    await ingest("/x/pump.pdf", makePdf(["Another page.", page]));
    expect((await book.search(ADA, query, 5)).map(({ piece }) => piece.page)).toEqual([2]);
  });

  it("joins a word at a soft hyphen, and loses no other letter", () => {
    expect(joinHyphens(["Kom\u00ad\npressor, E-\nMail, 5-\n7, a -\nb, Donau\u2010\ndampf"])).toEqual([
      "Kompressor, E-Mail, 5-\n7, a -\nb, Donaudampf",
    ]);
  });

  it("is told where text stands side by side, as it may have been read across", async () => {
    const columns = "The left column begins\tThe right column is\nand goes on below.\tread in between.";
    const { outcome } = await piecesOf(
      "/two.pdf",
      makePdf(["One column.\nOf two lines.", columns, "Title\t2026\nText."]),
    );
    expect(outcome).toMatchObject({ kind: "stored", sideBySide: [2] });
  });
});
