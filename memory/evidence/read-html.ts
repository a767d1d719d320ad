/** HTML to text with its headings as those of Markdown; what a browser does not show is left out. */
import type { HtmlToTextOptions } from "html-to-text";
import {
  cleanDocument,
  type EvidenceDocument,
  markdownHeadings,
  textIn,
  unreadable,
} from "./evidence-document.ts";

const NOT_SHOWN = [
  "head",
  "title",
  "noscript",
  "template",
  "svg",
  "iframe",
  "object",
  "img",
  "[hidden]",
  '*[style*="display:none"i]',
  '*[style*="display: none"i]',
  '*[style*="visibility:hidden"i]',
  '*[style*="visibility: hidden"i]',
];

/** What browsers show on lines of its own, beside what the converter knows as such. */
const SHOWN_APART =
  "tr dt dd summary details legend fieldset option optgroup button caption figcaption address dialog output label".split(
    " ",
  );

/** What browsers show within a word or beside it. Every other element that the converter does not know ends a word. */
const WITHIN_WORDS = new Set(
  "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q rp rt ruby s samp small span strike strong sub sup time tt u var".split(
    " ",
  ),
);

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  // Its default takes zero-width blanks for blanks; they are to be seen and told.
  whitespaceCharacters: " \t\r\n\f",
  baseElements: { selectors: ["body"] },
  formatters: {
    markdownHeading(node, walk, builder) {
      builder.openBlock({ leadingLineBreaks: 2 });
      builder.addInline(`${"#".repeat(Number(node.name?.slice(1)))} `);
      walk(node.children, builder);
      builder.closeBlock({ trailingLineBreaks: 2 });
    },
    otherElement(node, walk, builder) {
      const edge = WITHIN_WORDS.has(node.name ?? "") ? "" : " ";
      builder.addInline(edge);
      walk(node.children, builder);
      builder.addInline(edge);
    },
  },
  selectors: [
    { selector: "*", format: "otherElement" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, format: "markdownHeading" })),
    { selector: "a", options: { ignoreHref: true } },
    ...["td", "th"].map((selector) => ({ selector, format: "inlineSurround", options: { suffix: " | " } })),
    ...SHOWN_APART.map((selector) => ({
      selector,
      format: "block",
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    ...NOT_SHOWN.map((selector) => ({ selector, format: "skip" })),
  ],
};

/**
 * Reads an HTML file.
 *
 * @throws {LilyError} `evidence_unreadable`
 */
export async function readHtml(bytes: Uint8Array, name: string): Promise<EvidenceDocument> {
  const html = textIn(bytes, name, declaredEncoding(bytes));
  if (depthOf(html) > MAX_DEPTH) throw tooDeep(name);
  const { convert } = await import("html-to-text");
  let shown: string;
  try {
    shown = convert(html, OPTIONS);
  } catch {
    // The depth is counted roughly; elements too deep inside each other end the stack.
    throw tooDeep(name);
  }
  const clean = cleanDocument(shown);
  const headings = markdownHeadings(clean.text);
  const title = convert(titleOf(html), OPTIONS) || (headings[0]?.text ?? null);
  return { ...clean, type: "html", title, headings, pages: [], sideBySide: [], hasLines: false };
}

function tooDeep(name: string) {
  return unreadable(name, "is nested too deeply", "Open it in a browser, and save its text.");
}

/** Elements inside each other for which the converter has stack; parsing many more takes minutes. */
const MAX_DEPTH = 1_000;
/** Elements that are empty, or that the next one of their kind ends. */
const NO_DEPTH =
  /^(?:p|li|d[dt]|t[dhr]|t?body|thead|tfoot|html|option|[bh]r|img|input|meta|link|col|wbr|area|base|embed|source|track)$/iu;

function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, slash, name = ""] of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)/giu)) {
    if (NO_DEPTH.test(name)) continue;
    depth = slash === "" ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const HEAD_BYTES = 2_048;

function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1");
  return (
    /<meta[^>]+charset\s*=\s*["']?\s*([\w:-]+)/iu.exec(head)?.[1] ??
    /<\?xml[^>]+encoding\s*=\s*["']([\w:-]+)/iu.exec(head)?.[1]
  );
}

/** As it is written, with its entities. */
function titleOf(html: string): string {
  return /<title[^>]*>([^<]{1,500})<\/title>/iu.exec(html)?.[1]?.trim() ?? "";
}
