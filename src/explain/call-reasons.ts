/** What model calls were given, in words: tokens by part, whose turns, what was left out and by which rule. */
import { counted, joined } from "#src/kernel/markdown.ts";
import {
  tokensIn,
  callsOf,
  cutsOf,
  rangeText,
  type CallReceipt,
  type Cut,
  type GivenTurns,
  type WholeCall,
} from "#src/sessions/call-receipt.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";
import { reasonsOf, type Reason, type Telling } from "./reason.ts";

/** Parts of a prompt as people call them; others go by their own name. `memory` is of receipts of earlier versions. */
const PARTS: Readonly<Record<string, string>> = {
  system: "instructions",
  ledger: "tasks and decisions",
  units: "what turns that are left out say",
  persona: "who Lily is to you",
  profile: "rules and profile",
  facts: "found facts",
  memory: "remembered facts",
  turns: "earlier turns",
  steps: "steps with tools",
  message: "your message",
  notes: "lines on what is left out",
};

const number = (count: number): string => count.toLocaleString("en-US");

/** The reasons of the receipts of a turn. */
export function receiptReasons(
  { sessionId, explanation: { receipt, calls: stored } }: Pick<TurnRecord, "sessionId" | "explanation">,
  telling: Telling,
): Reason[] {
  if (receipt === undefined) return [];
  const calls = callsOf(sessionId, stored);
  const last = calls.at(-1);
  const each =
    calls.length < 2 ? [] : calls.map((call, index) => [`call ${index + 1}`, callText(call)] as const);
  return reasonsOf(
    ["given", tokensText(last ?? receipt)],
    ...each,
    ["turns given", turnsText(last?.turns ?? receipt.turns ?? [], telling)],
    ["left out", last === undefined || each.length > 0 ? "" : leftOutReasons(last).join("; ")],
    ["evidence", evidenceText(receipt)],
  );
}

function callText(call: CallReceipt): string {
  return [`${call.model}, ${totalText(call)}`, ...leftOutReasons(call)].join("; ");
}

/** The size of a call in one phrase. */
export function totalText(call: Pick<CallReceipt, "tokens" | "budgetTokens" | "counted">): string {
  const server = call.counted === undefined ? "" : ` (its server counted ${number(call.counted)})`;
  return `about ${number(tokensIn(call))} of ${counted(call.budgetTokens, "token")}${server}`;
}

function tokensText({ tokens = {}, ...call }: Pick<Receipt, "tokens" | "budgetTokens">): string {
  const parts = Object.entries(tokens).filter(([, count]) => count > 0);
  return `${totalText({ ...call, tokens })}: ${parts.map(([part, count]) => `${PARTS[part] ?? part} ${number(count)}`).join(", ")}`;
}

function turnsText(turns: readonly GivenTurns[], { nameOf }: Telling): string {
  if (turns.length === 0) return "none: nothing was said before, or nothing fitted";
  return turns
    .map(({ sessionId, from, to, as }) => {
      return `${rangeText(from, to)} of ${nameOf(sessionId)}${as === undefined ? "" : ` (${as})`}`;
    })
    .join("; ");
}

/** What was not given whole, and why; each in one phrase. */
export function leftOutReasons(call: CallReceipt): string[] {
  const { leftOut, afterTooLong } = call;
  const { from = 1, to = 0, earlier = 0 } = leftOut ?? {};
  const own = to < from ? "" : rangeText(from, to);
  const before = earlier === 0 ? "" : `${counted(earlier, "turn")} of earlier sessions`;
  const turns = joined([before, own], " and ");
  return [
    ...(afterTooLong === true
      ? ["the server had found a longer prompt too long, so that half of it was planned"]
      : []),
    ...cutsOf(call).map((cut) => cutReason(cut, turns)),
  ];
}

function cutReason({ what, rule, count }: Cut, turns: string): string {
  switch (rule) {
    case "share":
      return `${number(count)} of ${PARTS[what] ?? what}: over its share of the budget`;
    case "room":
      return `${number(count)} of ${PARTS[what] ?? what}: no room beside your message`;
    case "summary":
      return `${turns}: told in a summary`;
    case "oldest_first":
      return what === "steps"
        ? `the first ${counted(count, "step")} with tools: the oldest give way first`
        : `${turns}: the oldest give way first; /recall finds them`;
    case "collapsed":
      return what === "results"
        ? `${counted(count, "tool result")} of this turn as a line each: the model had read them, and reads them again with read_result`
        : `tool results of ${counted(count, "older turn")} as a line each`;
    case "shortened":
      return what === "results"
        ? `${counted(count, "new tool result")} cut to what fits; read_result reads on`
        : `${counted(count, "turn")} shortened: too big for itself`;
  }
}

const BAR_WIDTH = 24;

/** Rows of the parts of a call: name, tokens, and a bar of their share of the budget. */
export function barRows({ tokens, budgetTokens, ...call }: CallReceipt): string[][] {
  const free = Math.max(0, budgetTokens - tokensIn({ tokens, ...call }));
  const rows = [...Object.entries(tokens), ["free", free] as const];
  return rows
    .filter(([, count]) => count > 0)
    .map(([part, count]) => {
      const width = Math.max(1, Math.round((count / budgetTokens) * BAR_WIDTH));
      return [PARTS[part] ?? part, number(count), (part === "free" ? "░" : "█").repeat(width)];
    });
}

/** Whether a prompt begins as the one before it, so that a provider can use what it has cached. */
export function beginningText(before: WholeCall | undefined, now: WholeCall): string {
  if (before === undefined) return "new: there was no call before it in this session";
  if (before.model !== now.model) return `new for ${now.model}: the call before was of ${before.model}`;
  const isMadeRoom =
    JSON.stringify(before.leftOut) !== JSON.stringify(now.leftOut) || !beginsWith(now.turns, before.turns);
  if (isMadeRoom) return "changed since the call before: room was made";
  if (before.beginning !== now.beginning)
    return "changed since the call before: persona, rules or profile are others";
  return "the same as in the call before, up to the notes of the newest message";
}

/** Whether the turns of a call are those of the one before, with newer ones behind them. */
function beginsWith(now: readonly GivenTurns[], before: readonly GivenTurns[]): boolean {
  return before.every((range, index) => {
    const same = now[index];
    const isLast = index === before.length - 1;
    return (
      same?.sessionId === range.sessionId &&
      same.from === range.from &&
      same.as === range.as &&
      (isLast ? same.to >= range.to : same.to === range.to)
    );
  });
}

/** Documents are named by their ids: `/memory evidence show` lists them. */
function evidenceText({ evidence = [] }: Receipt): string {
  return evidence.map(({ sourceId, piece }) => `passage ${piece + 1} of ${sourceId.slice(0, 8)}`).join(", ");
}
