/**
 * One long conversation with things planted in it: facts, tasks, decisions, and results of tools that are far bigger than the
 * context. What is measured: the size of every prompt, and whether each planted word can still be answered from the last one
 * or by `/recall`.
 */
import { tool } from "@langchain/core/tools";
import type { BaseMessage } from "@langchain/core/messages";
import Table from "cli-table3";
import { z } from "zod";
import { createHarness } from "#graphs/session/testing/harness.ts";
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "#src/kernel/text.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { ScriptedCall } from "#src/models/testing/scripted-record.ts";
import type { ScriptedStep } from "#src/models/testing/scripted-step.ts";

/** How long, and in how much room. */
export interface LongRunOptions {
  readonly turns: number;
  readonly contextTokens: number;
  /** Of each result of a tool. */
  readonly resultCharacters: number;
  /** Who summarises: quotations alone, or a control model that forgets everything it is not held to. */
  readonly summaries: "built-in" | "model";
}

type Kind = "fact" | "task" | "decision" | "fact beside a result";

/** Something that was said once. */
interface Planted {
  readonly kind: Kind;
  readonly turn: number;
  /** What must be found again. */
  readonly code: string;
  /** By what one asks for it. */
  readonly query: string;
  readonly place: "context" | "recall" | "lost";
}

/** What came of it. */
export interface LongRunResult {
  readonly options: LongRunOptions;
  readonly planted: readonly Planted[];
  /** Estimated tokens of the largest prompt of each turn that asked a model. */
  readonly prompts: readonly number[];
  readonly modelCalls: number;
  readonly summaryCalls: number;
}

const COLOURS = "amber azure coral crimson emerald indigo ivory jade olive plum scarlet teal violet".split(
  " ",
);
const THINGS =
  "anchor basket cabinet drawer easel furnace gate hammock inkwell jar kettle ladder mirror nest oven pillow quilt".split(
    " ",
  );

/** The thing of a turn: no two of up to 221 turns are the same. */
function thingOf(turn: number): string {
  return `${COLOURS[turn % COLOURS.length]} ${THINGS[turn % THINGS.length]}`;
}

const TALK =
  "By the way, it rained again this morning and the bus was late, so I read a little on the way. ".repeat(3);

interface Step {
  readonly text: string;
  readonly planted?: Omit<Planted, "place">;
}

/** What is said in a turn. */
function stepOf(turn: number): Step {
  const thing = thingOf(turn);
  const code = `${thing.slice(0, 2).toUpperCase()}-${1_000 + turn * 7}`;
  const planted = (kind: Kind) => ({ kind, turn, code, query: thing });
  if (turn % 20 === 7) return { text: `/todo check the ${thing} ${code}`, planted: planted("task") };
  if (turn % 25 === 11)
    return { text: `/decided we keep the ${thing} ${code}`, planted: planted("decision") };
  if (turn % 6 === 4)
    return {
      text: `fetch the report on the ${thing}, its number is ${code}`,
      planted: planted("fact beside a result"),
    };
  if (turn % 3 === 0)
    return { text: `The number of the ${thing} is ${code}. ${TALK}`, planted: planted("fact") };
  return { text: TALK };
}

/** The model fetches what it is asked to fetch, and answers everything else in a few words. */
function answerTo(messages: readonly BaseMessage[]): ScriptedStep {
  const last = messages.at(-1);
  if (last?.type === "human" && last.text.startsWith("fetch "))
    return { toolCalls: [{ id: `c${messages.length}`, name: "fetch_report", args: { what: last.text } }] };
  return { text: "I see. Anything else that I can do for you today?" };
}

/** Runs it. */
export async function longRun(options: LongRunOptions): Promise<LongRunResult> {
  const model = new ScriptedChatModel(answerTo);
  const forgetful = new ScriptedChatModel(() => "They talked about this and that.");
  const report = tool(async () => "line of a long report, ".repeat(options.resultCharacters / 23), {
    name: "fetch_report",
    description: "Fetches a report",
    schema: z.object({ what: z.string() }),
  });
  const controlModel = options.summaries === "model" ? "scripted:control" : "built-in";
  const lily = await createHarness({
    model,
    models: { "scripted:control": forgetful },
    config: {
      limits: { contextTokens: options.contextTokens, turnTokens: 0 },
      agents: { defaults: { model: "scripted:test", controlModel } },
      units: { extract: "symbolic" },
    },
    adjust: (deps) => ({ ...deps, tools: [report] }),
  });
  try {
    const prompts: number[] = [];
    const said: Omit<Planted, "place">[] = [];
    let modelCalls = 0;
    for (let turn = 1; turn <= options.turns; turn += 1) {
      const { text, planted } = stepOf(turn);
      await lily.send(text);
      if (planted !== undefined) said.push(planted);
      // What a call was given is looked at and let go: all of them together are too much to keep.
      const calls = model.calls.splice(0);
      modelCalls += calls.length;
      if (calls.length > 0) prompts.push(Math.max(...calls.map(tokensOf)));
    }
    const summaryCalls = forgetful.calls.length;
    await lily.send("so where are we?");
    const context = textOf(model.calls.at(-1));
    const planted: Planted[] = [];
    for (const one of said) {
      if (context.includes(one.code)) planted.push({ ...one, place: "context" });
      else {
        const { envelope } = await lily.send(`/recall ${one.query}`);
        const isFound = JSON.stringify(envelope).includes(one.code);
        planted.push({ ...one, place: isFound ? "recall" : "lost" });
      }
    }
    return { options, planted, prompts, modelCalls, summaryCalls };
  } finally {
    await lily.close();
  }
}

function tokensOf({ messages }: ScriptedCall): number {
  return messages.reduce(
    (sum, message) => sum + MESSAGE_OVERHEAD_TOKENS + estimateTokens(contentOf(message)),
    0,
  );
}

function textOf(call: ScriptedCall | undefined): string {
  return (call?.messages ?? []).map(contentOf).join("\n");
}

function contentOf({ content }: ScriptedCall["messages"][number]): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** The last prompts may be so much larger, on the whole, than those of the middle of the conversation, or fill this share. */
const FLAT = 1.1;
const MADE_ROOM = 0.7;

const meanOf = (values: readonly number[]): number =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));

/** What is wrong, in words; nothing where all promises hold. */
export function longRunFaults({ options, planted, prompts }: LongRunResult): string[] {
  const faults: string[] = [];
  const largest = Math.max(...prompts);
  if (largest > options.contextTokens)
    faults.push(`a prompt has ${largest} tokens of ${options.contextTokens}`);
  for (const { kind, turn, code, place } of planted)
    if (place === "lost" || (place !== "context" && (kind === "task" || kind === "decision")))
      faults.push(
        `the ${kind} ${code} of turn ${turn} is ${place === "lost" ? "lost" : "not in the context"}`,
      );
  const third = Math.floor(prompts.length / 3);
  const middle = meanOf(prompts.slice(third, 2 * third));
  const end = meanOf(prompts.slice(2 * third));
  if (end > Math.max(middle * FLAT, options.contextTokens * MADE_ROOM))
    faults.push(`prompts grow: ${middle} tokens in the middle, ${end} at the end`);
  return faults;
}

/** A table of what was planted, and a plot of the prompts over time. */
export function longRunReport({
  options,
  planted,
  prompts,
  modelCalls,
  summaryCalls,
}: LongRunResult): string {
  const table = new Table({
    head: ["planted", "all", "in the context", "by /recall", "lost"],
    style: { head: [], border: [] },
  });
  for (const kind of new Set(planted.map((one) => one.kind))) {
    const of = planted.filter((one) => one.kind === kind);
    const count = (place: Planted["place"]): number => of.filter((one) => one.place === place).length;
    table.push([kind, of.length, count("context"), count("recall"), count("lost")]);
  }
  const summarised =
    options.summaries === "built-in"
      ? "summaries in quotations"
      : `summaries by a model that forgets (${summaryCalls} calls)`;
  return [
    `${options.turns} turns, ${modelCalls} model calls, results of ${options.resultCharacters} characters, ${summarised}`,
    table.toString(),
    plotOf(prompts, options.contextTokens),
  ].join("\n");
}

const PLOT_COLUMNS = 75;
const PLOT_ROWS = 8;

/** The largest prompt of each stretch of turns, of a budget. */
function plotOf(values: readonly number[], budget: number): string {
  const width = Math.min(PLOT_COLUMNS, values.length);
  const columns = Array.from({ length: width }, (_, index) =>
    Math.max(
      ...values.slice(
        Math.floor((index * values.length) / width),
        Math.ceil(((index + 1) * values.length) / width),
      ),
    ),
  );
  const rows = Array.from({ length: PLOT_ROWS }, (_, index) => {
    const from = (budget * (PLOT_ROWS - 1 - index)) / PLOT_ROWS;
    const label = index === 0 ? `${budget}` : "";
    return `${label.padStart(7)} │${columns.map((value) => (value > from ? "█" : " ")).join("")}`;
  });
  return [...rows, `${"0".padStart(7)} └${"─".repeat(width)} prompts over time, tokens`].join("\n");
}
