/** The tools that a reply model is offered. */
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";
import type { RecalledPiece } from "#src/context/recall.ts";
import { recalledText, recallTurns } from "#src/context/recall.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { Receipt } from "#src/sessions/turn-record.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { OWN_READS } from "#src/tools/tool-source.ts";
import { readResult, type ResultKeeper } from "./kept-results.ts";
import { ledgerTools, type LedgerScope } from "./ledger-tools.ts";
import { memoryTools, type MemoryToolScope } from "./memory-tools.ts";

/** Arguments of `session_recall`. */
const recallArguments = z.object({
  query: z.string().min(1).describe("Words to look for in what was said earlier"),
  rationale: z.string().min(1).describe("Why the answer needs it; shown to the user"),
});

/** Arguments of `read_result`. */
const resultArguments = z.object({
  name: z.string().min(1).describe("The name that the shortened result tells"),
  from: z.int().min(0).default(0).describe("First character to read"),
  length: z.int().min(1).default(8_000).describe("How many characters to read"),
});

/** Arguments of `read_skill`. */
const skillArguments = z.object({
  name: z.string().min(1).describe("The name of the skill, as it is listed"),
  file: z
    .string()
    .min(1)
    .default("SKILL.md")
    .describe("Another file of the skill, by the path that its text tells"),
});

/** What a tool works on: never taken from its arguments. */
export interface ToolScope {
  readonly repository: SessionRepository;
  readonly chain: Chain;
  /** Turns that the model is shown. */
  readonly held: Receipt["turns"];
  /** Most characters of what is recalled at once. */
  readonly recallCharacters: number;
  readonly timeZone: string;
  /** Results that were too big for the conversation. */
  readonly results: ResultKeeper;
  /** Tasks and decisions of the conversation. */
  readonly ledger: LedgerScope;
  /** What a skill of the session says; absent where it has none. */
  readonly readSkill?: ((asked: z.infer<typeof skillArguments>) => Promise<string>) | undefined;
  /** Memory of the owner; absent where the model is offered no tools for it. */
  readonly memory?: MemoryToolScope | undefined;
  /** Told of each piece that was read. */
  readonly onRecalled: (pieces: readonly RecalledPiece[]) => void;
}

const RECALL = {
  name: "session_recall",
  description:
    "Looks for something said earlier: in the user's archived conversations, and in what of this one is no longer shown. " +
    "Use it only when the user refers to something that you are not shown.",
  schema: recallArguments,
  metadata: OWN_READS,
};

const READ_RESULT = {
  name: "read_result",
  description:
    "Reads on in a tool result that was too long to be shown whole. Use the name that the shortened result tells.",
  schema: resultArguments,
  metadata: OWN_READS,
};

const READ_SKILL = {
  name: "read_skill",
  description: "Gives the instructions of a listed skill. Read them before you do what the skill is for.",
  schema: skillArguments,
  metadata: OWN_READS,
};

/** Names that Lily's tools had before, in records and in calls that were open when the program was renewed. */
const EARLIER: Readonly<Record<string, string>> = {
  recall_history: "session_recall",
  search_memory: "memory_search",
  remember: "memory_remember",
};

/** The tool that a call names, by a name that it has or had. */
export function toolNamed(
  tools: readonly StructuredToolInterface[],
  called: string,
): StructuredToolInterface | undefined {
  const named = (wanted: string | undefined) => tools.find(({ name }) => name === wanted);
  return named(called) ?? (Object.hasOwn(EARLIER, called) ? named(EARLIER[called]) : undefined);
}

/** Lily's tools and those of the application. Without a scope they can be described to a model, not run. */
export function sessionTools(
  others: readonly StructuredToolInterface[],
  scope?: ToolScope,
  offers = { memory: scope?.memory !== undefined, skills: scope?.readSkill !== undefined },
): StructuredToolInterface[] {
  return [
    tool(async (args) => (scope === undefined ? "" : recall(scope, args)), RECALL),
    tool(async (args) => (scope === undefined ? "" : readResult(scope.results, args)), READ_RESULT),
    ...ledgerTools(scope?.ledger),
    ...(offers.skills ? [tool(async (args) => scope?.readSkill?.(args) ?? "", READ_SKILL)] : []),
    ...(offers.memory ? memoryTools(scope?.memory) : []),
    ...others,
  ];
}

async function recall(scope: ToolScope, args: z.infer<typeof recallArguments>): Promise<string> {
  const { repository, chain, held, recallCharacters: characters, timeZone } = scope;
  const pieces = await recallTurns(repository, { chain, held, characters, ...args });
  scope.onRecalled(pieces);
  return pieces.length === 0
    ? "Nothing was found that is not shown already."
    : recalledText(pieces, timeZone);
}
