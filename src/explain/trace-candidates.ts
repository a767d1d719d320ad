/** The candidates of a turn's prompts: what was given, what was left out or denied, by which rule. Pure. */
import { shortId } from "#memory/record.ts";
import { cutsOf, rangeText, type CallReceipt, type Cut, type WholeCall } from "#src/sessions/call-receipt.ts";
import { isDenied, type AnswerSource, type Explanation } from "#src/sessions/turn-record.ts";
import { unitName } from "./explain-turn.ts";
import type { Telling } from "./reason.ts";
import type { TraceEdge } from "./trace.ts";

/** Something that a prompt could hold, or several of a kind. */
export interface Candidate {
  readonly name: string;
  readonly status: "given" | "partly" | "leftOut" | "denied";
  readonly rule?: TraceEdge["rule"];
  readonly score?: number;
  readonly count?: number;
}

type Naming = Pick<Telling, "nameOf">;

/** What was chosen once for all calls of the turn. */
export function turnCandidates({ receipt }: Pick<Explanation, "receipt">, naming: Naming): Candidate[] {
  const { memory = [], evidence = [], ledger = [], units = [], left = [] } = receipt ?? {};
  return [
    ...memory.map(({ id, because = "fits", score }) => given(factName(id), because, { score })),
    ...evidence.map((passage) => given(passageName(passage), "fits", passage)),
    ...units.map((unit) => given(`unit ${unitName(unit, naming)}`, unit.because, unit)),
    ...(ledger.length === 0 ? [] : [given("tasks and decisions", "open", { count: ledger.length })]),
    ...left.map((one): Candidate => {
      const [kind, id, rule, score] = one;
      const status = isDenied(one) ? "denied" : "leftOut";
      return { ...given(`${kind} ${id}`.trim(), rule, { score }), status };
    }),
  ];
}

function given(
  name: string,
  rule: string,
  { score, count }: { readonly score?: number | undefined; readonly count?: number } = {},
): Candidate {
  return {
    name,
    status: "given",
    rule,
    ...(score === undefined ? {} : { score }),
    ...(count === undefined ? {} : { count }),
  };
}

/** What was taken from the message and refused by the policy gate, by its rules. */
export function deniedUnits({ denied = [] }: Explanation["extracted"] & object = { by: "" }): Candidate[] {
  return [...new Set(denied)].map((rule) => ({
    name: "units of this message",
    status: "denied",
    rule,
    count: denied.filter((one) => one === rule).length,
  }));
}

/** What an answer without a model rests on. */
export function sourceCandidates(
  { sources = [] }: Pick<Explanation, "sources">,
  naming: Naming,
): Candidate[] {
  return sources.map((source) => given(sourceName(source, naming), "rests on"));
}

function sourceName(source: AnswerSource, naming: Naming): string {
  switch (source.kind) {
    case "turn":
      return `turn ${source.turn} of ${naming.nameOf(source.sessionId)}`;
    case "unit":
      return `unit ${unitName(source, naming)}`;
    case "fact":
      return factName(source.id);
    case "evidence":
      return passageName(source);
  }
}

const factName = (id: string): string => `fact ${shortId(id)}`;

function passageName({ sourceId, piece }: { readonly sourceId: string; readonly piece: number }): string {
  return `passage ${piece + 1} of ${shortId(sourceId)}`;
}

/** What one call was given of the conversation, and what it was not given; of a later call only what differs. */
export function callCandidates(
  { calls }: { readonly calls: readonly WholeCall[] },
  index: number,
  { call, nameOf }: Naming & { readonly call: CallReceipt },
): Candidate[] {
  const before = calls[index - 1];
  const cuts = cutsOf(call);
  const isSameTurns = JSON.stringify(before?.turns) === JSON.stringify(call.turns);
  const isSame =
    before !== undefined &&
    JSON.stringify([before.leftOut, cutsOf(before)]) === JSON.stringify([call.leftOut, cuts]);
  return [
    ...(isSameTurns ? [] : (call.turns ?? [])).map(({ sessionId, from, to, as }): Candidate => ({
      name: `${rangeText(from, to)} of ${nameOf(sessionId)}`,
      status: as === undefined ? "given" : "partly",
      rule: as ?? "newest first",
      count: to - from + 1,
    })),
    ...(isSame ? [] : cuts.flatMap((cut) => cutCandidates(cut, call))),
  ];
}

/** Turns by their ranges; of all else several of a kind that are not given whole. */
function cutCandidates({ what, rule, count }: Cut, { leftOut }: CallReceipt): Candidate[] {
  const isPart = rule === "collapsed" || rule === "shortened";
  if (what !== "turns" || isPart) {
    const name = `${what} ${isPart ? rule : "left out"}`;
    return [{ name, status: isPart ? "partly" : "leftOut", rule, ...(count === 0 ? {} : { count }) }];
  }
  const { from = 1, to = 0, earlier = 0 } = leftOut ?? {};
  const why = { status: rule === "summary" ? "partly" : "leftOut", rule } as const;
  return [
    ...(to < from ? [] : [{ name: `${rangeText(from, to)} of this session`, count: to - from + 1, ...why }]),
    ...(earlier === 0 ? [] : [{ name: "turns of earlier sessions", count: earlier, ...why }]),
  ];
}
