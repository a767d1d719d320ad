/** A benchmark of turns as tables for people. */
import type { BenchResult, CaseResult } from "./bench-result.ts";
import { freshTable } from "./fresh-table.ts";
import { kilobytesText, msText, ratioText } from "./measure.ts";
import { newTable } from "./table.ts";
import { targetsOf, type Target } from "./targets.ts";

/** All tables, with what has to be known to read them. */
export function benchTables(result: BenchResult): string {
  const { node, processor, cores, foreignCores, cases } = result;
  const machine = `Node ${node}, ${processor}, ${cores} cores, of which other programs used ${foreignCores.toFixed(1)}.`;
  return [
    `Turns of about 40 words each way, model without latency, SQLite. ${machine}`,
    ...[false, true].flatMap((usesTools) => sectionsOf(cases.filter((one) => one.usesTools === usesTools))),
    freshTable(cases),
    `Targets\n${targetTable(targetsOf(result))}`,
    NOTES,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const NOTES = [
  "plain agent: LangGraph with SqliteSaver, which gives its model the whole conversation and keeps every checkpoint;",
  "floor: the same graph without a saver, given the new message alone. Lily has a turn on the disk when it answers; the",
  "plain agent leaves that to the system. * preloaded: written as one state, then measured for the turns after it.",
  "° computed: the sum of what each turn adds, by the line through the measured turns.",
].join("\n");

function sectionsOf(cases: readonly CaseResult[]): string[] {
  const [first] = cases;
  if (first === undefined) return [];
  const tools = first.usesTools ? "one tool call in each turn" : "no tools";
  const longest = cases.findLast(({ subject }) => subject === "lily");
  return [
    `Time of a turn, ${tools}\n${timeTable(cases)}`,
    `Disk, ${tools}\n${diskTable(cases)}`,
    ...(longest === undefined
      ? []
      : [`Lily's disk at ${longest.turns} turns, ${tools}\n${kindTable(longest)}`]),
  ];
}

function timeTable(cases: readonly CaseResult[]): string {
  const table = newTable(["turns", "who", "p50", "p95", "processor", "model given", "to floor", "to Lily"]);
  const floor = cases.find(({ subject }) => subject === "floor");
  for (const one of cases) {
    const lily = cases.find(({ subject, turns }) => subject === "lily" && turns === one.turns);
    table.push([
      lengthText(one),
      one.subject,
      msText(one.p50Ms),
      msText(one.p95Ms),
      msText(one.processorMs),
      `${one.given} messages`,
      floor === undefined ? "" : ratioText(one.p50Ms, floor.p50Ms),
      lily === undefined || lily === one ? "" : ratioText(one.p50Ms, lily.p50Ms),
    ]);
  }
  return table.toString();
}

function diskTable(cases: readonly CaseResult[]): string {
  const table = newTable(["turns", "who", "total", "a turn", "between", "total to Lily", "heap grown"]);
  for (const one of cases) {
    const { disk, subject, turns, heapGrowthBytes } = one;
    if (disk === undefined || subject === "lily-watched") continue;
    const lily = cases.find((other) => other.subject === "lily" && other.turns === turns)?.disk;
    table.push([
      lengthText(one),
      subject,
      `${kilobytesText(disk.totalBytes)}${disk.isComputed ? "°" : ""}`,
      kilobytesText(disk.bytesPerTurn),
      `${disk.fromTurn} and ${disk.toTurn}`,
      subject === "lily" || lily === undefined ? "" : ratioText(disk.totalBytes, lily.totalBytes),
      heapGrowthBytes === undefined ? "" : kilobytesText(heapGrowthBytes),
    ]);
  }
  return table.toString();
}

function kindTable({ disk }: CaseResult): string {
  const table = newTable(["kind", "total", "a turn"]);
  for (const { kind, totalBytes, bytesPerTurn } of disk?.kinds ?? [])
    table.push([kind, kilobytesText(totalBytes), kilobytesText(bytesPerTurn)]);
  return table.toString();
}

function targetTable(targets: readonly Target[]): string {
  const table = newTable(["what", "measured", "target", "verdict"]);
  for (const { what, value, unit, bound, limit, isMet } of targets)
    table.push([
      what,
      valueText(value, unit),
      `${bound} ${valueText(limit, unit)}`,
      isMet ? "met" : "not met",
    ]);
  return table.toString();
}

function valueText(value: number, unit: Target["unit"]): string {
  switch (unit) {
    case "ms":
      return msText(value);
    case "bytes":
      return kilobytesText(value);
    case "times":
      return ratioText(value, 1);
  }
}

const lengthText = ({ turns, isPreloaded }: CaseResult): string =>
  `${turns === 0 ? "" : turns}${isPreloaded ? "*" : ""}`;
