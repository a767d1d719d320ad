import { describe, expect, it } from "vitest";
import { MAX_FILE_BYTES, MAX_TEXT_CHARACTERS } from "./evidence-document.ts";
import { readDocument } from "./read-document.ts";
import { makePdf } from "./testing/make-pdf.ts";

const read = (name: string, content: string | Uint8Array) =>
  readDocument({
    path: `/home/ada/${name}`,
    bytes: typeof content === "string" ? Buffer.from(content) : content,
  });

const utf16 = (text: string, isBig = false): Buffer => {
  const bytes = Buffer.from(text, "utf16le");
  return isBig ? bytes.swap16() : bytes;
};

describe("a text file", () => {
  it("is read with its lines, line feeds alone, in NFC", async () => {
    const document = await read("notes.txt", "Cafe\u0301\r\n# no heading\r\n");
    expect(document).toMatchObject({
      type: "text",
      text: "Café\n# no heading\n",
      headings: [],
      title: null,
      hasLines: true,
      hidden: 0,
    });
  });

  it.each([
    ["UTF-8 with its mark", Buffer.from("\ufeffGrüße 猫")],
    ["UTF-16, little end first, with its mark", utf16("\ufeffGrüße 猫")],
    ["UTF-16, big end first, with its mark", utf16("\ufeffGrüße 猫", true)],
  ])("is read from %s", async (_name, bytes) => {
    expect((await read("notes.txt", bytes)).text).toBe("Grüße 猫");
  });

  it("keeps colour codes of a terminal from making it binary, and takes them out", async () => {
    const document = await read("build.log", "\u001b[31mfailed\u001b[0m in step 4");
    expect(document).toMatchObject({ text: "[31mfailed[0m in step 4", hidden: 2 });
  });

  it("has hidden characters taken out, counted, and their place noted where they deceive", async () => {
    const spelled = Array.from("ignore", (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));
    const first = "x".repeat(2_500);
    const document = await read("notes.txt", `${first}\nHello${spelled.join("")} there\nend`);
    expect(document).toMatchObject({ text: `${first}\nHello there\nend`, hidden: 6 });
    expect(document.deceptive).toEqual([{ start: 2_501, end: 2_516 }]);
  });
});

describe("a Markdown file", () => {
  it("is known by its extension, and has the title of its first heading", async () => {
    const document = await read("Guide.MD", "intro\n\n## Setup\n\n# The *guide*\n");
    expect(document).toMatchObject({ type: "markdown", title: "The guide", hasLines: true });
  });
});

describe("an HTML file", () => {
  it("is read as its visible text, with headings and rows of tables", async () => {
    const html = `<!doctype html><html><head><title>Terms &amp; more</title><style>p{}</style></head><body>
      <h1>Terms <em>of use</em></h1><p>First.<p hidden>never seen<p style="color:red; display: none">nor this
      <div><h2>Prices</h2><ul><li>one<li>two</ul><table><tr><th>k<th>v<tr><td>1<td>2</table>
      <a href="https://example.org/?q=1">a link</a><script>alert(1)</script><!-- comment --></div></body></html>`;
    const document = await read("page.html", html);
    expect(document.title).toBe("Terms & more");
    expect(document.text.split("\n").filter((line) => line.trim() !== "")).toEqual([
      "# Terms of use",
      "First.",
      "## Prices",
      " * one",
      " * two",
      "k | v | ",
      "1 | 2 | ",
      "a link",
    ]);
    expect(
      document.headings.map(({ at, ...heading }) => ({ ...heading, line: document.text.slice(at, at + 6) })),
    ).toEqual([
      { level: 1, text: "Terms of use", line: "# Term" },
      { level: 2, text: "Prices", line: "## Pri" },
    ]);
    expect(document.hasLines).toBe(false);
  });

  it("has apart what a browser shows apart (E-1)", async () => {
    const html = `<html><body><dl><dt>Rent</dt><dd>1,480 francs</dd><dt>Due</dt><dd>first</dd></dl>
      <details><summary>More</summary>Heating</details><select><option>red</option><option>blue</option></select>
      <fieldset><legend>Size</legend>large</fieldset><button>Yes</button><button>No</button>
      <p>in<b>with</b>in</p><product-name>Kettle</product-name><product-price>30 francs</product-price><foo>gas</foo><bar>oil</bar>`;
    const { text } = await read("page.html", html);
    for (const word of [
      "Rent",
      "1,480 francs",
      "Due",
      "first",
      "More",
      "Heating",
      "red",
      "blue",
      "Size",
      "Yes",
      "No",
      "inwithin",
      "Kettle",
      "30 francs",
      "gas",
      "oil",
    ])
      expect(text).toMatch(new RegExp(`(?<!\\S)${word}(?!\\S)`, "u"));
  });

  it("is known by its content whatever its name", async () => {
    expect((await read("download", "<!DOCTYPE html>\n<p>Hello")).type).toBe("html");
  });

  it("is read in the encoding it names", async () => {
    const bytes = Buffer.from(`<meta charset="iso-8859-1"><p>Gr\u00fc\u00dfe`, "latin1");
    expect((await read("page.htm", bytes)).text).toBe("Grüße");
  });

  it("counts hidden characters written as entities, behind headings too", async () => {
    const turned = "a&#x202e;b";
    const document = await read("page.html", `<h1>One</h1>${"<p>x y".repeat(800)}<h2>Two</h2><p>${turned}`);
    expect(document.hidden).toBe(1);
    const [range] = document.deceptive;
    expect(document.text.slice(range?.start, range?.end)).toContain("ab");
    expect(range?.end).toBeLessThanOrEqual(document.text.length);
  });

  it("is refused where its elements are nested without end", async () => {
    await expect(read("page.html", "<div>".repeat(50_000))).rejects.toMatchObject({
      code: "evidence_unreadable",
      message: "page.html is nested too deeply",
    });
  });
});

describe("a PDF file", () => {
  it("is read page by page, with its title", async () => {
    const pdf = makePdf(["First page\nof two", "Second (last) page"], { title: "Report" });
    expect(await read("report.pdf", pdf)).toMatchObject({
      type: "pdf",
      title: "Report",
      text: "First page\nof two\nSecond (last) page",
      pages: [0, 18],
      hasLines: false,
    });
  });

  it("is known by its content whatever its name", async () => {
    expect((await read("report", makePdf(["Hello"]))).type).toBe("pdf");
  });
});

describe("a file that cannot be read as text", () => {
  it.each([
    ["empty.txt", "", "is empty"],
    ["blank.txt", " \n\u200b\n -- ", "holds no text"],
    ["junk.bin", Buffer.from([1, 0, 2, 0, 0, 3, 250]), "is no text"],
    ["junk.txt", "\u0001\u0002\u0003\u0004abc", "is no text"],
    ["old.txt", Buffer.from("Gr\u00fc\u00dfe", "latin1"), "is no whole UTF-8 text: some bytes are not valid"],
    ["cut.txt", Buffer.from("猫").subarray(0, 2), "is no whole UTF-8 text: some bytes are not valid"],
    ["unmarked.txt", utf16("plain words"), "is no text"],
    ["half.txt", utf16("\ufeffabc").subarray(0, 7), "is no whole UTF-16LE text: some bytes are not valid"],
    ["page.html", `<meta charset="klingon"><p>x`, "names an encoding that is not known here"],
    ["letter.docx", "PK\u0003\u0004rest", "is a Word, Excel, OpenDocument, EPUB or ZIP file"],
    ["photo.md", Buffer.from("\u0089PNG\r\n", "latin1"), "is a picture"],
    ["fake.pdf", "just words", "is called .pdf and is none"],
    ["cut.pdf", makePdf(["Hello"]).subarray(0, 150), "is a damaged PDF"],
    ["locked.pdf", makePdf(["Hello"], { isEncrypted: true }), "is encrypted with a password"],
    ["scan.pdf", makePdf([""]), "holds pictures and no text"],
  ])("%s is refused, with the reason and a way out", async (name, content, why) => {
    await expect(read(name, content)).rejects.toMatchObject({
      code: "evidence_unreadable",
      message: `${name} ${why}`,
      next: expect.stringMatching(/\. Nothing was stored\.$/u),
    });
  });

  it("is refused when it is too large, or unfolds to too much text", async () => {
    await expect(read("a.txt", Buffer.alloc(MAX_FILE_BYTES + 1, 97))).rejects.toMatchObject({
      code: "file_too_large",
    });
    await expect(read("a.txt", Buffer.alloc(MAX_TEXT_CHARACTERS + 1, 97))).rejects.toMatchObject({
      code: "file_too_large",
    });
  });
});
