/** A trace for other programs: a Mermaid diagram, and a page of HTML that needs nothing beside itself. */
import { joined } from "#src/kernel/markdown.ts";
import { nodeName, nodeText, totalsText, traceRows } from "./trace-text.ts";
import type { Trace, TraceNode } from "./trace.ts";

/** A Mermaid flowchart. Text is written as character codes where Mermaid would read it as more than text. */
export function traceMermaid(trace: Trace): string {
  const { nodes, edges } = trace.graph;
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index + 1}`]));
  const lines = nodes.map((node) => `  ${names.get(node.id) ?? ""}${shaped(node)}`);
  const arrows = edges.map(({ from, to, kind, rule }) => {
    const arrow = kind === "then" ? "-->" : "-.->";
    const label = kind === "then" ? "" : `|"${escaped(joined([kind, rule ?? ""], ": "))}"|`;
    return `  ${names.get(from) ?? ""} ${arrow}${label} ${names.get(to) ?? ""}`;
  });
  return ["flowchart TD", ...lines, ...arrows].join("\n");
}

const MAX_LABEL = 120;

function shaped(node: TraceNode): string {
  const took = node.ms === null ? "" : ` (${node.ms} ms)`;
  const text = nodeText(node);
  const label = `${nodeName(node)}${took}${text === "" ? "" : `: ${text}`}`;
  const short = label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL).toWellFormed()} …` : label;
  return node.kind === "candidate" ? `(["${escaped(short)}"])` : `["${escaped(short)}"]`;
}

/** Letters, digits and harmless signs stay; all else becomes a character code, which both Mermaid and HTML know. */
function escaped(text: string): string {
  return text
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[^\p{L}\p{M}\p{N} .,:…“”\-/]/gu, (sign) => `#${sign.codePointAt(0) ?? 32};`);
}

/** A whole page; it loads nothing and runs nothing. */
export function traceHtml(headline: string, trace: Trace): string {
  const { steps, candidates } = traceRows(trace);
  const title = html(headline);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}
table{border-collapse:collapse;width:100%;margin:1em 0}td,th{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid #ccc}
</style>
<h1>${title}</h1>
<p>${html(totalsText(trace))}</p>
${htmlTable(steps)}
${htmlTable(candidates)}
<details><summary>The same as data</summary><pre>${html(JSON.stringify(trace, null, 2))}</pre></details>
</html>
`;
}

function htmlTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const row = (cells: readonly string[], tag: "td" | "th"): string =>
    `<tr>${cells.map((cell) => `<${tag}>${html(cell)}</${tag}>`).join("")}</tr>`;
  return `<table>\n${[row(head, "th"), ...rows.map((cells) => row(cells, "td"))].join("\n")}\n</table>`;
}

function html(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (sign) => `&#${sign.charCodeAt(0)};`);
}
