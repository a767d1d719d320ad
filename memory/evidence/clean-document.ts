/** Takes hidden characters out of a long text, and notes where they deceived the reader. */
import { cleanHidden, isDeceptive } from "../policy/hidden-text.ts";
import type { EvidenceDocument, TextRange } from "./evidence-document.ts";

// What deceives is judged by how much of it stands together, so a long text is judged by parts of whole lines.
const PART = /[\s\S]{1,2000}[^\n]*\n?/gu;
const PLAIN = /^[\n\t\u0020-\u007e]*$/u;

/** Cleans `raw`, and makes its text NFC with line feeds alone. Pages and tabs of printers become blanks. */
export function cleanDocument(raw: string): Pick<EvidenceDocument, "text" | "hidden" | "deceptive"> {
  const deceptive: TextRange[] = [];
  let text = "";
  let hidden = 0;
  for (const [part] of raw
    .replaceAll("\r\n", "\n")
    .replaceAll(/[\f\v]/gu, " ")
    .matchAll(PART)) {
    const clean = PLAIN.test(part) ? { text: part, hidden: null } : cleanHidden(part);
    const start = text.length;
    text += clean.text.normalize("NFC");
    if (clean.hidden === null) continue;
    hidden += clean.hidden.codes.reduce((sum, { count }) => sum + count, 0);
    if (isDeceptive(clean.hidden)) deceptive.push({ start, end: text.length });
  }
  return { text, hidden, deceptive };
}
