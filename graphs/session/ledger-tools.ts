/** The tools by which a reply model writes the ledger of its conversation; what they change is committed with their turn. */
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";
import {
  closeInLedger,
  foldLedger,
  ledgerText,
  noteInLedger,
  type Ledger,
  type LedgerChange,
} from "#src/sessions/ledger.ts";
import { OWN_WRITES } from "#src/tools/policy.ts";
import type { PolicyVerdict } from "#memory/policy/verdict.ts";

/** What the tools work on; none of it comes from their arguments. */
export interface LedgerScope {
  /** The ledger as the turn found it. */
  readonly ledger: Ledger | undefined;
  readonly turn: number;
  /** What the turn has changed so far; changes are added to it. */
  readonly changes: LedgerChange[];
  readonly gate: (text: string) => Promise<PolicyVerdict>;
}

const noteArguments = z.object({
  kind: z.enum(["task", "decision"]),
  text: z.string().min(1).describe("One line of at most 240 characters, with its names, numbers and dates"),
});

const closeArguments = z.object({ number: z.int().describe("The number of the entry") });

/** The tool that notes an entry. */
export const NOTE = {
  name: "session_note",
  description:
    "Notes an open task or a decision of this conversation, so that it is never lost from view. Use it for what the user " +
    "asks to be done later and for what they settle, not for what is done at once.",
  schema: noteArguments,
  metadata: OWN_WRITES,
};

const CLOSE = {
  name: "session_done",
  description: "Marks a noted task as done, or a noted decision as no longer holding.",
  schema: closeArguments,
  metadata: OWN_WRITES,
};

/** The tools. Without a scope they can be described to a model, not run. */
export function ledgerTools(scope?: LedgerScope): StructuredToolInterface[] {
  return [
    tool(async (entry) => (scope === undefined ? "" : note(scope, entry)), NOTE),
    tool(async ({ number }) => (scope === undefined ? "" : close(scope, number)), CLOSE),
  ];
}

const ledgerNow = ({ ledger, changes, turn }: LedgerScope): Ledger => foldLedger(ledger, changes, turn);

async function note(scope: LedgerScope, { kind, text }: z.infer<typeof noteArguments>): Promise<string> {
  const line = ledgerText(text);
  if (line === undefined) return "Not noted: it is not one line of at most 240 characters.";
  const judged = await scope.gate(line);
  if (judged.action === "deny")
    return `${judged.denial.message.replace("not remembered", "Not noted")}. Do not try again in other words.`;
  if (judged.action === "quarantine") return "Not noted: it holds characters that nobody sees.";
  const verdict = noteInLedger(ledgerNow(scope), { kind, text: judged.text });
  switch (verdict.kind) {
    case "change":
      scope.changes.push(verdict.change);
      return `Noted as ${kind} ${verdict.change.number}.`;
    case "known":
      return `That is ${kind} ${verdict.entry.number} already.`;
    case "full":
    case "missing":
      return "Not noted: the ledger is full. Close with session_done what is over.";
  }
}

function close(scope: LedgerScope, number: number): string {
  const verdict = closeInLedger(ledgerNow(scope), number);
  if (verdict.kind !== "change") return `There is no open entry ${number}.`;
  scope.changes.push(verdict.change);
  return `Closed ${number}.`;
}
