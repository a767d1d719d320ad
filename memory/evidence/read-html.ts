/** HTML to text with its headings; what a browser does not show is left out. */
import type { ConvertOptions } from "html-to-text";
import { cleanDocument } from "./clean-document.ts";
import { decodeText } from "./decode-text.ts";
import type { EvidenceDocument, Heading } from "./evidence-document.ts";
import { unreadable } from "./unreadable.ts";

// Stands before the level of a heading, so that no text is taken for one. It is taken out of what comes in.
const MARK = "\uE000";
const MARKED_LINE = new RegExp(`^${MARK}([1-6])(.*)$`, "u");

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

const OPTIONS: ConvertOptions = {
  wordwrap: false,
  // Its default takes zero-width blanks for blanks; they are to be seen and told.
  whitespaceCharacters: " \t\r\n\f",
  baseElements: { selectors: ["body"] },
  formatters: {
    markedHeading(node, walk, builder) {
      builder.openBlock({ leadingLineBreaks: 2 });
      builder.addInline(`${MARK}${node.name.slice(1)}`);
      walk(node.children, builder);
      builder.closeBlock({ trailingLineBreaks: 2 });
    },
  },
  selectors: [
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, format: "markedHeading" })),
    { selector: "a", options: { ignoreHref: true } },
    { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...["td", "th"].map((selector) => ({ selector, format: "inlineSurround", options: { suffix: " | " } })),
    ...NOT_SHOWN.map((selector) => ({ selector, format: "skip" })),
  ],
};

/**
 * Reads an HTML file.
 *
 * @throws {LilyError} `evidence_unreadable`
 */
export async function readHtml(bytes: Uint8Array, name: string): Promise<EvidenceDocument> {
  const html = decodeText(bytes, name, declaredEncoding(bytes)).replaceAll(MARK, "");
  if (depthOf(html) > MAX_DEPTH) throw tooDeep(name);
  const { convert } = await import("html-to-text");
  const { text: marked, hidden, deceptive } = cleanDocument(converted(() => convert(html, OPTIONS), name));
  const { text, headings, placeOf } = takeHeadings(marked);
  return {
    type: "html",
    title: convert(titleOf(html), OPTIONS) || (headings[0]?.text ?? null),
    text,
    headings,
    pages: [],
    hasLines: false,
    hidden,
    deceptive: deceptive.map(({ start, end }) => ({ start: placeOf(start), end: placeOf(end) })),
  };
}

function converted(convert: () => string, name: string): string {
  try {
    return convert();
  } catch {
    // The depth is counted roughly; elements too deep inside each other end the stack.
    throw tooDeep(name);
  }
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

interface Unmarked {
  readonly text: string;
  readonly headings: readonly Heading[];
  /** Where a place of the marked text is now. */
  placeOf(marked: number): number;
}

/** The lines without their marks, and where the headings are then. */
function takeHeadings(marked: string): Unmarked {
  const headings: Heading[] = [];
  const shifts: { readonly from: number; readonly by: number }[] = [];
  let from = 0;
  let at = 0;
  const lines = marked.split("\n").map((line) => {
    const [, level, title = ""] = MARKED_LINE.exec(line) ?? [];
    const text = (level === undefined ? line : title.trim()).replaceAll(MARK, "");
    if (level !== undefined && text !== "") headings.push({ at, level: Number(level), text });
    from += line.length + 1;
    at += text.length + 1;
    if (text.length < line.length) shifts.push({ from, by: from - at });
    return text;
  });
  return {
    text: lines.join("\n"),
    headings,
    placeOf: (place) => place - (shifts.findLast((shift) => shift.from <= place)?.by ?? 0),
  };
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
