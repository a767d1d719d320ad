/** The tools that a reply model is offered. */
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";
import type { RecalledPiece } from "#src/context/recall.ts";
import { recalledText, recallTurns } from "#src/context/recall.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { readResult, type ResultKeeper } from "./kept-results.ts";
import { ledgerTools, type LedgerScope } from "./ledger-tools.ts";
import { memoryTools, type MemoryToolScope } from "./memory-tools.ts";

/** Arguments of `recall_history`. */
const recallArguments = z.object({
  query: z.string().min(1).describe("Words to look for in earlier conversations"),
  rationale: z.string().min(1).describe("Why the answer needs it; shown to the user"),
});

/** Arguments of `read_result`. */
const resultArguments = z.object({
  name: z.string().min(1).describe("The name that the shortened result tells"),
  from: z.int().min(0).default(0).describe("First character to read"),
  length: z.int().min(1).default(8_000).describe("How many characters to read"),
});

/** What a tool works on: never taken from its arguments. */
export interface ToolScope {
  readonly repository: SessionRepository;
  readonly chain: Chain;
  readonly sessionId: string;
  readonly timeZone: string;
  /** Results that were too big for the conversation. */
  readonly results: ResultKeeper;
  /** Tasks and decisions of the conversation. */
  readonly ledger: LedgerScope;
  /** Memory of the owner; absent where the model is offered no tools for it. */
  readonly memory?: MemoryToolScope | undefined;
  /** Told of each piece that was read. */
  readonly onRecalled: (pieces: readonly RecalledPiece[]) => void;
}

const RECALL = {
  name: "recall_history",
  description:
    "Looks for something said in the user's earlier, archived conversations. Use it only when the user refers to the " +
    "past and this conversation does not say it.",
  schema: recallArguments,
};

const READ_RESULT = {
  name: "read_result",
  description:
    "Reads on in a tool result that was too long to be shown whole. Use the name that the shortened result tells.",
  schema: resultArguments,
};

/** Lily's tools and those of the application. Without a scope they can be described to a model, not run. */
export function sessionTools(
  others: readonly StructuredToolInterface[],
  scope?: ToolScope,
  offersMemory = scope?.memory !== undefined,
): StructuredToolInterface[] {
  return [
    tool(async (args) => (scope === undefined ? "" : recall(scope, args)), RECALL),
    tool(async (args) => (scope === undefined ? "" : readResult(scope.results, args)), READ_RESULT),
    ...ledgerTools(scope?.ledger),
    ...(offersMemory ? memoryTools(scope?.memory) : []),
    ...others,
  ];
}

async function recall(scope: ToolScope, args: z.infer<typeof recallArguments>): Promise<string> {
  const { repository, chain, sessionId, timeZone } = scope;
  const pieces = await recallTurns(repository, { chain, sessionId, ...args });
  scope.onRecalled(pieces);
  return pieces.length === 0 ? "Nothing was found in earlier conversations." : recalledText(pieces, timeZone);
}
