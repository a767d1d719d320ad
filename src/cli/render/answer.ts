/** The Markdown of a model's answer as lines for a terminal. marked says what is what; here is how it looks. */
import { stripVTControlCharacters } from "node:util";
import { marked, type Token, type Tokens } from "marked";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { Screen } from "../screen.ts";
import { table } from "./table.ts";

/** Longest line that stands for a border. */
const RULE = 40;

/** A paragraph, list, table or the like. */
export type Block = Token;

/** What an answer is made of, and where its last block begins. `text` must be printable. */
export function blocksOf(text: string): { readonly blocks: readonly Block[]; readonly lastAt: number } {
  const tokens: readonly Token[] = marked.lexer(text);
  const last = tokens.findLastIndex(isShown);
  const before = tokens.slice(0, Math.max(0, last));
  return { blocks: tokens.filter(isShown), lastAt: before.reduce((sum, { raw }) => sum + raw.length, 0) };
}

const isShown = ({ type }: Token): boolean => type !== "space" && type !== "def";

/** A whole answer. */
export function renderAnswer(text: string, screen: Screen): string {
  return blocksOf(text.replaceAll("\t", "    "))
    .blocks.map((block) => blockLines(block, screen).join("\n"))
    .join("\n\n");
}

/** A block as lines; only a line of code, an address or another long word may be wider than the screen. */
export function blockLines(block: Block, screen: Screen): string[] {
  const { paint, columns } = screen;
  switch (block.type) {
    case "heading": {
      const title = inline(block, screen);
      return wrap(
        (block as Tokens.Heading).depth === 1 ? paint.bold.underline(title) : paint.bold(title),
        columns,
      );
    }
    case "code":
      return codeLines(block as Tokens.Code, screen);
    case "blockquote":
      return nested((block as Tokens.Blockquote).tokens, screen, 2).map(
        (line) => `${paint.dim("│")} ${line}`,
      );
    case "list":
      return listLines(block as Tokens.List, screen);
    case "table": {
      const { header, rows } = block as Tokens.Table;
      const cells = (row: readonly Tokens.TableCell[]): string[] => row.map((cell) => inline(cell, screen));
      return table({ head: cells(header), rows: rows.map(cells) }, screen).split("\n");
    }
    case "hr":
      return [paint.dim("─".repeat(Math.min(RULE, columns)))];
    default:
      return wrap(inline(block, screen), columns);
  }
}

/** Blocks within a block, behind a margin: a list within an item follows its text at once. */
function nested(blocks: readonly Token[], screen: Screen, margin: number): string[] {
  const inner = { ...screen, columns: screen.columns - margin };
  const shown = blocks.filter(({ type }) => type !== "space" && type !== "checkbox");
  return shown.flatMap((block, index) => [
    ...(index === 0 || block.type === "list" || block.type === "text" ? [] : [""]),
    ...blockLines(block, inner),
  ]);
}

function listLines({ ordered, start, items }: Tokens.List, screen: Screen): string[] {
  return items.flatMap(({ task, checked, tokens }, index) => {
    const number = ordered ? `${Number(start) + index}. ` : "• ";
    const mark = task ? `${checked === true ? "[x]" : "[ ]"} ` : number;
    const [first = "", ...rest] = nested(tokens, screen, mark.length);
    return [
      `${mark}${first}`.trimEnd(),
      ...rest.map((line) => `${" ".repeat(mark.length)}${line}`.trimEnd()),
    ];
  });
}

/** Lines of code stay as they are, without a margin, so that they can be copied. */
function codeLines({ lang = "", text }: Tokens.Code, { paint, columns }: Screen): string[] {
  const name = lang.trim() === "" ? "──" : `── ${lang.trim()} ──`;
  const width = Math.min(RULE, columns);
  const top = `${name}${"─".repeat(Math.max(0, width - stringWidth(name)))}`;
  return [paint.dim(top), ...text.split("\n").map((line) => paint.cyan(line)), paint.dim("─".repeat(width))];
}

/** What stands within lines, painted. */
function inline(block: Token | Tokens.TableCell, screen: Screen): string {
  const { tokens, text = "" } = block as { readonly tokens?: readonly Token[]; readonly text?: string };
  if (tokens === undefined) return unescaped(text);
  return tokens.map((token) => inlineToken(token, screen)).join("");
}

function inlineToken(token: Token, screen: Screen): string {
  const { paint } = screen;
  switch (token.type) {
    case "strong":
      return paint.bold(inline(token, screen));
    case "em":
      return paint.italic(inline(token, screen));
    case "del":
      return paint.strikethrough(inline(token, screen));
    case "codespan":
      return paint.level === 0 ? token.raw : paint.cyan((token as Tokens.Codespan).text);
    case "br":
      return "\n";
    case "link":
      return linked(inline(token, screen), (token as Tokens.Link).href, screen);
    case "image":
      return linked(`[picture: ${(token as Tokens.Image).text}]`, (token as Tokens.Image).href, screen);
    case "html":
      return token.raw;
    default:
      return inline(token, screen);
  }
}

/** The address is always shown: a terminal may not open it, and a person sees where it leads. */
function linked(text: string, href: string, { paint }: Screen): string {
  const address = href.replace(/^mailto:/u, "");
  return text === address || text === href ? paint.underline(text) : `${text} (${paint.underline(href)})`;
}

const CHARACTERS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/gu, (name) => CHARACTERS[name] ?? name);
}

/** Breaks between words. A long word stays whole, so that it can be copied, but for scripts without spaces. */
function wrap(text: string, columns: number): string[] {
  return wrapAnsi(text, columns)
    .split("\n")
    .flatMap((line) => {
      const isWord = /^[!-~]+$/u.test(stripVTControlCharacters(line));
      return isWord || stringWidth(line) <= columns
        ? [line]
        : wrapAnsi(line, columns, { hard: true }).split("\n");
    });
}
