/** `npm run bench`: what a turn costs beside a plain LangGraph agent; numbers and bars to read, no exit code. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { barTable, readBars, rounded, tableOf } from "./bars.ts";
import { filesRunBy, promptTime } from "./footprint.ts";
import { openLily, type Lily } from "./lily.ts";
import { agentThatKeepsNothing, plainAgent } from "./plain-agent.ts";
import { measureInTurns, percentile, type Samples, type Subject } from "./rounds.ts";

const PER_ROUND = 5;

/** `seldom`: turns of the plain agent at 5,000 take seconds, so it takes part in each such round only. */
const SIZES = {
  quick: { rounds: 12, seldom: 4, weighed: 200, starts: 3 },
  full: { rounds: 60, seldom: 6, weighed: 1_000, starts: 15 },
};

const program = new Command("npm run bench --")
  .description(
    "Measures a turn in conversations of up to 5,000 turns beside a plain agent, and the first prompt.",
  )
  .option("--quick", "60 turns a length (the default)")
  .option("--full", "300 turns a length; takes minutes")
  .parse();
const size = SIZES[program.opts<{ full?: boolean }>().full === true ? "full" : "quick"];

const root = mkdtempSync(join(tmpdir(), "lily-bench-"));
const closing: (() => unknown)[] = [];
try {
  const subjects = [...(await plainSubjects()), ...(await lilySubjects([10, 100, 5_000]))];
  // The one whose turns are weighed and looked into.
  const lily = await open(1_000);
  subjects.push(subjectOf(lily, 1_000));
  const samples = await measureInTurns(subjects, size.rounds);
  const before = await lily.bytes();
  for (let turn = 0; turn < size.weighed; turn += 1) await lily.turn();
  const bytes = ((await lily.bytes()) - before) / size.weighed;
  const files = await filesRunBy(lily.turn);
  const starts: number[] = [];
  while (starts.length < size.starts) starts.push(await promptTime(mkdtempSync(join(root, "start-"))));
  report(samples, { bytes, files, prompt: percentile(new Map([["prompt", starts]]), "prompt", 0.5) });
} finally {
  for (const close of closing) await close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}

async function plainSubjects(): Promise<Subject[]> {
  const nothing = agentThatKeepsNothing();
  for (let turn = 0; turn < 50; turn += 1) await nothing();
  const subjects: Subject[] = [{ name: "keeps nothing", run: nothing, perRound: PER_ROUND }];
  for (const [turns, every] of [
    [100, 1],
    [1_000, 1],
    [5_000, size.seldom],
  ] as const) {
    const { turn, close } = await plainAgent(join(root, `plain-${turns}.sqlite`), turns);
    closing.push(close);
    await turn();
    subjects.push({ name: `plain ${turns}`, run: turn, perRound: 1, every });
  }
  return subjects;
}

async function lilySubjects(lengths: readonly number[]): Promise<Subject[]> {
  const subjects: Subject[] = [];
  for (const turns of lengths) subjects.push(subjectOf(await open(turns), turns));
  return subjects;
}

async function open(turns: number): Promise<Lily> {
  const lily = await openLily(join(root, `lily-${turns}`), turns, size.rounds * PER_ROUND);
  closing.push(lily.close);
  return lily;
}

function subjectOf({ turn, settled }: Lily, turns: number): Subject {
  return { name: `lily ${turns}`, run: turn, perRound: PER_ROUND, afterRound: settled };
}

type Footprint = Record<"bytes" | "prompt", number> & { readonly files: ReadonlyMap<string, number> };

function report(samples: Samples, { bytes, prompt, files }: Footprint): void {
  const p50 = (name: string): number => percentile(samples, name, 0.5);
  const nothing = p50("keeps nothing");
  const rows = [...samples].map(([name, { length }]) => {
    const times = [0.5, 0.95].map((share) => `${rounded(percentile(samples, name, share))} ms`);
    return [name, String(length), ...times, rounded(p50(name) / nothing)];
  });
  console.log(tableOf(["agent and turns", "measured", "p50", "p95", "to keeps nothing"], rows));
  const bars = readBars().turn;
  const values = {
    growth: p50("lily 5000") / p50("lily 100"),
    plain1000: p50("plain 1000") / p50("lily 1000"),
    plain5000: p50("plain 5000") / p50("lily 5000"),
    nothing: p50("lily 100") / nothing,
    bytes,
    prompt,
    files: files.size,
  };
  console.log(barTable(bars, values));
  if (files.size > (bars.find(({ id }) => id === "files")?.atMost ?? 0))
    console.log([...files].map(([file, functions]) => `${functions} in ${file}`).join("\n"));
}
