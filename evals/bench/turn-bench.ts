/** What a turn costs in time and disk, next to the plain agent: both take the same messages in turn. */
import Table from "cli-table3";
import { benchmarkText } from "./benchmark-text.ts";
import { openLilySubject } from "./lily-subject.ts";
import { kilobytesText, msText, percentile, ratioText, timed } from "./measure.ts";
import { openPlainSubject } from "./plain-subject.ts";
import { folderBytes, type Subject } from "./subject.ts";

/** What `turns` turns cost. */
interface TurnCosts {
  /** Milliseconds of each turn. */
  readonly ms: readonly number[];
  /** Growth of the folder in bytes a turn, over what it is when it is empty. */
  readonly bytesPerTurn: number;
}

/** Costs of both after the same number of turns. */
interface Compared {
  readonly turns: number;
  readonly lily: TurnCosts;
  readonly plain: TurnCosts;
}

/** Turns that are not counted: they load modules and warm the compiler. */
const WARM_UP_TURNS = 20;

/** Measures conversations of each length in `lengths` and gives back the table. */
export async function turnBench(lengths: readonly number[]): Promise<string> {
  await compare(WARM_UP_TURNS);
  const compared: Compared[] = [];
  for (const turns of lengths) compared.push(await compare(turns));
  return tableOf(compared);
}

/** Each message goes to one and then to the other, so that a busy machine slows both. */
async function compare(turns: number): Promise<Compared> {
  const [lily, plain] = [await openLilySubject(), await openPlainSubject()];
  try {
    const empty = [await settledBytes(lily), await settledBytes(plain)];
    const ms: [number[], number[]] = [[], []];
    for (let index = 1; index <= turns; index += 1) {
      const text = benchmarkText(index, "question");
      ms[0].push(await timed(() => lily.turn(text)));
      ms[1].push(await timed(() => plain.turn(text)));
    }
    const full = [await settledBytes(lily), await settledBytes(plain)];
    const growth = (which: number): number => ((full[which] ?? 0) - (empty[which] ?? 0)) / turns;
    return {
      turns,
      lily: { ms: ms[0], bytesPerTurn: growth(0) },
      plain: { ms: ms[1], bytesPerTurn: growth(1) },
    };
  } finally {
    await lily.close();
    await plain.close();
  }
}

async function settledBytes(subject: Subject): Promise<number> {
  await subject.settle();
  return folderBytes(subject.folder);
}

function tableOf(compared: readonly Compared[]): string {
  const table = new Table({
    head: ["turns", "what", "Lily", "plain agent", "ratio"],
    colAligns: ["right", "left", "right", "right", "right"],
    style: { head: [], border: [], compact: true },
  });
  for (const costs of compared) table.push(...rowsOf(costs));
  return `A turn of about 40 words each way, model without latency, SQLite\n${table.toString()}`;
}

function rowsOf({ turns, lily, plain }: Compared): string[][] {
  const tail = (ms: readonly number[]): number => percentile(ms.slice(-Math.ceil(turns / 10)), 0.5);
  return [
    row(turns, "time, p50", {
      lily: percentile(lily.ms, 0.5),
      plain: percentile(plain.ms, 0.5),
      text: msText,
    }),
    row(turns, "time, p95", {
      lily: percentile(lily.ms, 0.95),
      plain: percentile(plain.ms, 0.95),
      text: msText,
    }),
    row(turns, "time, p50 of the last tenth", { lily: tail(lily.ms), plain: tail(plain.ms), text: msText }),
    row(turns, "disk a turn", { lily: lily.bytesPerTurn, plain: plain.bytesPerTurn, text: kilobytesText }),
  ];
}

function row(
  turns: number,
  what: string,
  {
    lily,
    plain,
    text,
  }: { readonly lily: number; readonly plain: number; readonly text: (value: number) => string },
): string[] {
  return [String(turns), what, text(lily), text(plain), ratioText(lily, plain)];
}
