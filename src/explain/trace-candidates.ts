/** The candidates of a turn's prompts: what was given, what was left out or denied, by which rule. Pure. */
import { shortId } from "#memory/record.ts";
import { turnsOfCall, type CallReceipt, type Cut } from "#src/sessions/call-receipt.ts";
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
  if (receipt === undefined) return [];
  const { memory = [], evidence = [], ledger = [], units = [], left = [] } = receipt;
  const given = (name: string, rule: string, rest: Pick<Candidate, "score" | "count"> = {}): Candidate => ({
    name,
    status: "given",
    rule,
    ...rest,
  });
  return [
    ...memory.map(({ id, because, score }) => given(factName(id), because ?? "fits", scored(score))),
    ...evidence.map((passage) => given(passageName(passage), "fits", scored(passage.score))),
    ...units.map((unit) => given(`unit ${unitName(unit, naming)}`, unit.because, scored(unit.score))),
    ...(ledger.length === 0 ? [] : [given("tasks and decisions", "open", { count: ledger.length })]),
    ...left.map((one) => {
      const [kind, id, rule, score] = one;
      const status = isDenied(one) ? ("denied" as const) : ("leftOut" as const);
      return { name: `${kind} ${id}`.trim(), status, rule, ...scored(score) };
    }),
  ];
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
  return sources.map((source) => ({ name: sourceName(source, naming), status: "given", rule: "rests on" }));
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

const scored = (score: number | undefined): Pick<Candidate, "score"> =>
  score === undefined ? {} : { score };

const factName = (id: string): string => `fact ${shortId(id)}`;

function passageName({ sourceId, piece }: { readonly sourceId: string; readonly piece: number }): string {
  return `passage ${piece + 1} of ${shortId(sourceId)}`;
}

/** What one call was given of the conversation, and what it was not given; of a later call only what differs. */
export function callCandidates(
  { calls = [] }: Pick<Explanation, "calls">,
  index: number,
  { call, nameOf }: Naming & { readonly call: CallReceipt },
): Candidate[] {
  const before = index === 0 ? undefined : calls[index - 1];
  const turns = call.turns ?? (index === 0 ? turnsOfCall(calls, index) : []);
  const isSame = (key: "leftOut" | "cuts"): boolean =>
    before !== undefined && JSON.stringify(before[key]) === JSON.stringify(call[key]);
  return [
    ...turns.map(({ sessionId, from, to, as }) => ({
      name: `${range(from, to)} of ${nameOf(sessionId)}`,
      status: as === undefined ? ("given" as const) : ("partly" as const),
      rule: as ?? "newest first",
      count: to - from + 1,
    })),
    ...(isSame("cuts") && isSame("leftOut") ? [] : cutCandidates(call)),
  ];
}

const range = (from: number, to: number): string => (from === to ? `turn ${from}` : `turns ${from} to ${to}`);

function cutCandidates({ cuts = [], leftOut }: CallReceipt): Candidate[] {
  return cuts.flatMap((cut) => {
    if (cut.what !== "turns" || cut.rule === "collapsed" || cut.rule === "shortened")
      return [cutCandidate(cut)];
    const { from = 1, to = 0, earlier = 0 } = leftOut ?? {};
    const why = {
      status: cut.rule === "summary" ? ("partly" as const) : ("leftOut" as const),
      rule: cut.rule,
    };
    return [
      ...(to < from ? [] : [{ name: `${range(from, to)} of this session`, count: to - from + 1, ...why }]),
      ...(earlier === 0 ? [] : [{ name: "turns of earlier sessions", count: earlier, ...why }]),
    ];
  });
}

/** Several of a kind that are not given whole. */
function cutCandidate({ what, rule, count }: Cut): Candidate {
  const isPart = rule === "collapsed" || rule === "shortened";
  const name = `${what} ${isPart ? rule : "left out"}`;
  return { name, status: isPart ? "partly" : "leftOut", rule, ...(count === 0 ? {} : { count }) };
}
