/** Pieces of text and Markdown of which replies are made: tables, counts, quotations, blocks, and who said what. */

/** A table in GitHub's form; `""` without rows. White space of cells, line breaks too, becomes one blank. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A table of facts by their names; those that are `null` are left out. */
export function markdownFacts(facts: readonly (readonly [name: string, value: string | null])[]): string {
  return markdownTable(
    ["", ""],
    facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

/** What somebody said, behind the name; `""` for nothing. */
export function markdownSaid(role: string, content: string): string {
  const name = SPEAKERS[role] ?? role;
  return content.trim() === "" ? "" : `**${name}:** ${content.trim()}`;
}

const SPEAKERS: Readonly<Record<string, string>> = { user: "You", assistant: "Lily" };

function cell(text: string): string {
  return text
    .replaceAll(/\s+/gu, " ")
    .trim()
    .replaceAll(/[\\|]/gu, String.raw`\$&`);
}

const MAX_QUOTE = 240;

/** A text in quotation marks, on one line and not longer than a few of them. */
export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return line.length > MAX_QUOTE ? `“${line.slice(0, MAX_QUOTE).toWellFormed()} …”` : `“${line}”`;
}

/** `1 turn`, `2 turns`. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;
}

/** The parts that say something, `between` each of them. */
export function joined(parts: readonly (string | undefined)[], between = " "): string {
  return parts.filter((part) => part !== undefined && part !== "").join(between);
}

/** A text in a block of code, whose fence is longer than any within. */
export function fenced(language: string, text: string): string {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
}
