/** A trace in the terminal: what happened one below the other, then what the prompts were made of, as Markdown tables. */
import { counted as countedText, joined, markdownTable } from "#src/kernel/markdown.ts";
import type { Trace, TraceEdge, TraceNode } from "./trace.ts";

/** Steps as people call them; others go by their own name. */
const STEPS: Readonly<Record<string, string>> = {
  message: "your message",
  admit: "taken in",
  decideRollover: "does it go on?",
  assembleContext: "context",
  callModel: "no call left",
  runTools: "a tool",
  runCommand: "command",
  symbolic: "built-in solver",
  rotate: "new session",
  commit: "stored",
  reply: "reply",
};

const STATUS: Readonly<Record<string, string>> = {
  done: "",
  failed: "failed",
  stopped: "stopped",
  notRun: "not run",
  given: "given",
  partly: "in part",
  leftOut: "left out",
  denied: "denied",
};

const statusText = (status: string): string => STATUS[status] ?? status;

const number = (count: number): string => count.toLocaleString("en-US");

/** What a node is called. */
export function nodeName({ kind, name }: TraceNode): string {
  switch (kind) {
    case "model":
      return `model ${name}`;
    case "attempt":
      return `try of ${name}`;
    case "tool":
      return name === "runTools" ? "a tool" : `tool ${name}`;
    case "control":
      return `asks ${name}`;
    case "message":
    case "step":
    case "reply":
    case "candidate":
      return STEPS[name] ?? name;
  }
}

/** What there is to say of a node beside its name and times. */
export function nodeText({ status, text, tokens, controlTokens, cost, kind }: TraceNode): string {
  const asked = controlTokens == null ? "" : countedText(controlTokens, "token");
  return joined(
    [statusText(status), text, tokens && tokensText(tokens), asked, kind === "model" ? costText(cost) : ""],
    "; ",
  );
}

function tokensText({ estimated, budget, counted, written }: NonNullable<TraceNode["tokens"]>): string {
  const server =
    counted === null
      ? "its server counted none"
      : `its server counted ${number(counted)} in, ${number(written ?? 0)} out`;
  return `about ${number(estimated)} of ${number(budget)} tokens (${server})`;
}

/** A sum of money, or that it is not known. */
function costText(cost: TraceNode["cost"]): string {
  if (cost === null || cost === undefined) return "cost unknown";
  return `${cost.currency} ${cost.amount.toFixed(6).replace(/0{1,4}$/u, "")}`;
}

/** The counts of a turn on one line. */
export function totalsText({
  totals: { ms, modelCalls, failedCalls, toolCalls, controlCalls, controlTokens, ...used },
}: Trace): string {
  const counts = [
    ms === null ? "time unknown" : `${number(ms)} ms`,
    `model calls ${modelCalls}`,
    ...(failedCalls === 0 ? [] : [`failed tries ${failedCalls}`]),
    ...(toolCalls === 0 ? [] : [`tool calls ${toolCalls}`]),
  ];
  const control =
    controlTokens === null || controlCalls === 0 ? "" : ` (${countedText(controlTokens, "token")})`;
  if (controlCalls > 0) counts.push(`control calls ${controlCalls}${control}`);
  if (modelCalls === 0) return counts.join(", ");
  const { inputTokens, outputTokens, cost } = used;
  const tokens =
    inputTokens === null || outputTokens === null
      ? "tokens unknown"
      : `tokens ${number(inputTokens)} in and ${number(outputTokens)} out`;
  return [...counts, tokens, costText(cost)].join(", ");
}

/** A trace as rows, the first with the names of the columns: what happened, in order, and the candidates. */
export function traceRows({ graph: { nodes, edges } }: Trace): Record<"steps" | "candidates", string[][]> {
  const hanging = new Set(edges.filter(({ kind }) => HANGING.has(kind)).map(({ to }) => to));
  const steps = nodes
    .filter(({ kind }) => kind !== "candidate")
    .map((node) => [
      `${hanging.has(node.id) ? "└ " : ""}${nodeName(node)}`,
      node.startMs === null ? "" : `${number(node.startMs)} ms`,
      node.ms === null ? "" : `${number(node.ms)} ms`,
      nodeText(node),
    ]);
  const candidates = candidateRows(nodes, edges);
  return {
    steps: [["step", "at", "took", ""], ...steps],
    candidates: [["candidate", "", "rule", "score", "count", "for"], ...candidates],
  };
}

const HANGING: ReadonlySet<TraceEdge["kind"]> = new Set(["tries", "calls", "asks"]);

function candidateRows(nodes: readonly TraceNode[], edges: readonly TraceEdge[]): string[][] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return edges.flatMap(({ from, to, kind, rule = "", score, count }) => {
    const [candidate, step] = [byId.get(from), byId.get(to)];
    if (candidate?.kind !== "candidate" || step === undefined) return [];
    const many = count === undefined || count === 1 ? "" : number(count);
    const fits = score === undefined ? "" : String(Number(score.toFixed(2)));
    return [[candidate.name, statusText(kind), rule.replaceAll("_", " "), fits, many, nodeName(step)]];
  });
}

/** The trace as Markdown. */
export function traceTables(trace: Trace): string {
  const { steps, candidates } = traceRows(trace);
  const table = ([head = [], ...rows]: string[][]): string => markdownTable(head, rows);
  return joined([table(steps), table(candidates)], "\n\n");
}
