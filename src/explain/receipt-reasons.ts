/** What a model was given, in words: tokens by part, whose turns, and what was repaired in the copy that was sent. */
import type { Receipt } from "#src/sessions/turn-record.ts";
import { counted, reasonsOf, type Reason, type Telling } from "./reason.ts";

/** Parts of a prompt as people call them; others go by their own name. */
const PARTS: Readonly<Record<string, string>> = {
  system: "instructions",
  ledger: "tasks and decisions",
  memory: "remembered facts",
  evidence: "evidence",
  turns: "earlier turns",
  message: "your message",
};

/** The reasons of a receipt. */
export function receiptReasons(receipt: Receipt, telling: Telling): Reason[] {
  return reasonsOf(
    ["given", tokensText(receipt)],
    ["turns given", turnsText(receipt, telling)],
    ["evidence", evidenceText(receipt)],
    ["repaired", repairsText(receipt)],
  );
}

function tokensText({ tokens, budgetTokens }: Receipt): string {
  const parts = Object.entries(tokens).filter(([, count]) => count > 0);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  const listed = parts.map(([part, count]) => `${PARTS[part] ?? part} ${count.toLocaleString("en-US")}`);
  return `about ${total.toLocaleString("en-US")} of ${counted(budgetTokens, "token")}: ${listed.join(", ")}`;
}

function turnsText({ turns }: Receipt, { nameOf }: Telling): string {
  if (turns.length === 0) return "none: nothing was said before, or nothing fitted";
  return turns
    .map(({ sessionId, from, to }) => {
      const range = from === to ? `turn ${from}` : `turns ${from} to ${to}`;
      return `${range} of ${nameOf(sessionId)}`;
    })
    .join("; ");
}

/** Documents are named by their ids: `/memory evidence show` lists them. */
function evidenceText({ evidence = [] }: Receipt): string {
  return evidence.map(({ sourceId, piece }) => `passage ${piece + 1} of ${sourceId.slice(0, 8)}`).join(", ");
}

function repairsText({ repairs = {} }: Receipt): string {
  return Object.entries(repairs)
    .map(([kind, count]) => `${kind.replaceAll("_", " ")} × ${count}`)
    .join(", ");
}
