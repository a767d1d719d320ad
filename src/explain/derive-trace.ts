/** Derives the trace of a turn from its record, which keeps of it only what nothing else tells. Pure. */
import { fromInstant } from "#src/kernel/clock.ts";
import { joined, quoted } from "#src/kernel/markdown.ts";
import { tokensIn, type CallReceipt } from "#src/sessions/call-receipt.ts";
import type { Chain } from "#src/sessions/chain.ts";
import { spokenText, type Message, type ToolCall } from "#src/sessions/message.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import type { ControlCall, Explanation, FailedAttempt, Step, TurnRecord } from "#src/sessions/turn-record.ts";
import { pluginsText } from "./answer-reasons.ts";
import {
  callCandidates,
  deniedUnits,
  sourceCandidates,
  turnCandidates,
  type Candidate,
} from "./trace-candidates.ts";
import type { PriceOf, Trace, TraceEdge, TraceNode } from "./trace.ts";
import type { WhichTurn } from "./which-turn.ts";
import { verdictText } from "./verdict-text.ts";

/** How a trace is told. */
export interface TraceOptions {
  readonly priceOf: PriceOf;
  readonly timeZone: string;
  /** A session as the person knows it. */
  readonly nameOf: (sessionId: string) => string;
}

/** Sessions of a chain by their place in it, as seen from one of them. */
export function namesIn({ sessions }: Pick<Chain, "sessions">, own: string): TraceOptions["nameOf"] {
  return (id) => {
    const ordinal = sessions.find(({ sessionId }) => sessionId === id)?.ordinal;
    return id === own ? "this session" : `session ${ordinal ?? id.slice(0, 8)}`;
  };
}

/** The trace of what was found. */
export function traceOf(
  which: Extract<WhichTurn, { readonly kind: "turn" | "failure" }>,
  options: TraceOptions,
): Trace {
  return which.kind === "turn" ? traceOfTurn(which.turn, options) : traceOfFailure(which.failure, options);
}

/** What a trace is derived from, of a turn that was committed or failed. */
interface Traced extends Omit<Explanation, "requestId" | "attempts"> {
  readonly attempts?: readonly FailedAttempt[] | undefined;
  readonly text: string;
  readonly messages: readonly Message[];
  /** What the call that failed was to be given. */
  readonly plan?: CallReceipt | undefined;
  /** Names of its tool calls, where there are no messages. */
  readonly tools?: readonly string[] | undefined;
  readonly startedAt: string | undefined;
  readonly endedAt: string;
  /** `undefined`: it was committed. */
  readonly failure?: { readonly node: string; readonly text: string };
  readonly isCutOff: boolean;
}

/** The trace of a committed turn; of one of an earlier version without times. */
function traceOfTurn(record: TurnRecord, options: TraceOptions): Trace {
  const { messages, explanation, status, at, reply } = record;
  const startedAt = messages[0]?.timestamp ?? at;
  const graph = new Graph(
    {
      ...explanation,
      text: spokenText(messages.find(({ role }) => role === "user")),
      messages,
      startedAt,
      endedAt: at,
      isCutOff: status === "stopped" || status === "interrupted",
    },
    options,
  );
  return {
    v: 1,
    sessionId: record.sessionId,
    turn: record.turn,
    requestId: explanation.requestId,
    deliveryId: record.deliveryId,
    status,
    code: reply.envelope?.code ?? null,
    startedAt,
    endedAt: at,
    ...graph.finished(),
  };
}

/** The trace of a turn that failed. Nothing of an answer is kept of it. */
function traceOfFailure(failure: FailedTurn, options: TraceOptions): Trace {
  const { sessionId, at, code, message, node, startedAt, requestId, deliveryId } = failure;
  const graph = new Graph(
    {
      ...failure,
      messages: [],
      startedAt,
      endedAt: at,
      failure: { node, text: `${code}: ${message}` },
      isCutOff: false,
    },
    options,
  );
  return {
    v: 1,
    sessionId,
    turn: null,
    requestId,
    deliveryId,
    status: "failed",
    code,
    startedAt: startedAt ?? null,
    endedAt: at,
    ...graph.finished(),
  };
}

/** Steps whose nodes are named by what they called. */
const MODEL_STEP = "callModel";
const TOOL_STEP = "runTools";

/** The graph in the making: one step behind the other, each with what hangs on it. */
class Graph {
  readonly #from: Traced;
  readonly #options: TraceOptions;
  readonly #nodes: TraceNode[] = [];
  readonly #edges: TraceEdge[] = [];
  /** Of each kind, for ids. */
  readonly #counts = new Map<string, number>();
  #last: TraceNode;
  #models = 0;
  #summaries = 0;
  /** Tool calls of the newest model call that have no step yet, and the call. */
  #open: Pick<ToolCall, "id" | "name">[] = [];
  #asking: TraceNode | undefined;

  constructor(from: Traced, options: TraceOptions) {
    this.#from = from;
    this.#options = options;
    this.#last = this.#add("message", "message", { startMs: 0, ms: null, text: quoted(from.text) });
    this.#steps();
    this.#closeTools();
    this.#end();
  }

  finished(): Pick<Trace, "totals" | "graph"> {
    return { totals: totalsOf(this.#nodes), graph: { nodes: this.#nodes, edges: this.#edges } };
  }

  #steps(): void {
    const { failure } = this.#from;
    const steps = this.#from.steps ?? withoutTimes(this.#from);
    for (const [index, step] of steps.entries()) {
      const isFailed = failure !== undefined && index === steps.length - 1 && step[0] === failure.node;
      this.#step(step, isFailed ? "failed" : "done");
    }
  }

  #step([name, startMs, ms, outcome]: TimedStep, status: "done" | "failed"): void {
    const at = { startMs, ms, status };
    if (name === TOOL_STEP) return this.#tool(at, outcome);
    this.#closeTools();
    if (name === MODEL_STEP) return this.#model(at);
    const node = this.#then("step", name, at);
    if (name === "decideRollover") this.#decision(node);
    if (name === "assembleContext") this.#asks(node, "plan");
    if (name === "assembleContext") this.#prepared(node);
  }

  #prepared(node: TraceNode): void {
    const text = pluginsText(this.#from.plugins);
    if (text !== undefined) node.text = text;
    this.#hang(node, turnCandidates(this.#from, this.#options));
  }

  #decision(node: TraceNode): void {
    const { verdict } = this.#from;
    if (verdict === undefined) return;
    const did = verdict.action === "stay" ? "it goes on" : "it ends";
    node.text = `${did}: ${verdictText(verdict, this.#options.timeZone)}`;
    const asked = verdict.action === "stay" ? verdict.semantic : verdict;
    const model = asked !== undefined && "decidedBy" in asked ? asked.decidedBy?.model : undefined;
    if (model === undefined || model === "built-in") return;
    this.#asks(node, "topic", { model });
  }

  /** Calls of a control model beside the answer's; `told` is what a record of an earlier version tells of one, which had no times. */
  #asks(node: TraceNode, what: ControlCall["what"], told?: Asking): void {
    const { controlCalls } = this.#from;
    const all: readonly Asking[] =
      controlCalls?.filter((call) => call.what === what) ?? (told === undefined ? [] : [told]);
    // Each call of the answer's model is planned by itself, and its summary asked for with it.
    const isOne = what === "summary" && controlCalls !== undefined;
    const made = isOne ? all.slice(this.#summaries, this.#summaries + 1) : all;
    if (isOne) this.#summaries += 1;
    for (const call of made) {
      const { model, at, ms = null, tokens = null, why } = call;
      const startMs = at === undefined ? null : this.#sinceStart(at);
      const control = this.#add("control", model, { startMs, ms, text: joined([ASKED[what], why], "; ") });
      control.controlTokens = tokens;
      control.cost = null;
      this.#edge(node, control, { kind: "asks" });
    }
  }

  #model(at: Timing): void {
    const { calls = [], attempts = [], messages, solver, plan, extracted } = this.#from;
    const index = this.#models;
    this.#models += 1;
    const isFailed = at.status === "failed";
    const call = calls[index] ?? (isFailed ? plan : undefined);
    const answer = messages.filter(({ role }) => role === "assistant")[index];
    const isBuiltIn = call === undefined && solver === "symbolic";
    // A turn whose budget left no call ends in this step without one.
    const kind = call !== undefined || isFailed ? "model" : "step";
    const node = this.#then(kind, isBuiltIn ? "symbolic" : (call?.model ?? MODEL_STEP), at);
    if (call !== undefined) {
      const { counted = null, written = null, budgetTokens: budget } = call;
      node.tokens = { estimated: tokensIn(call), budget, counted, written };
      node.cost = isFailed ? null : this.#cost(call);
      this.#hang(node, callCandidates(this.#from, index, { call, nameOf: this.#options.nameOf }));
    }
    if (call?.summaryBy !== undefined) this.#asks(node, "summary", { model: call.summaryBy });
    this.#open = [...(answer?.toolCalls ?? [])];
    this.#asking = node;
    if (this.#open.length > 0) node.text = `asked for ${this.#open.map(({ name }) => name).join(", ")}`;
    if (index === 0) {
      const { by, tokens, why } = extracted ?? { by: "sentences" };
      this.#asks(node, "units", by === "sentences" ? undefined : { model: by, tokens, why });
      this.#hang(node, deniedUnits(extracted));
    }
    for (const { model, kind: why, at: when } of attempts.filter(({ call: of = 1 }) => of === index + 1)) {
      const startMs = this.#sinceStart(when);
      const tried = this.#add("attempt", model, { startMs, ms: null, status: "failed", text: why });
      tried.cost = null;
      this.#edge(node, tried, { kind: "tries" });
    }
  }

  #tool(at: Timing, outcome: TimedStep[3]): void {
    const told = this.#from.tools?.[this.#counts.get("tool") ?? 0];
    const call = this.#open.shift();
    const asking = this.#asking;
    const node = this.#then("tool", call?.name ?? told ?? TOOL_STEP, { ...at, status: outcome ?? at.status });
    this.#decided(node, call);
    if (asking !== undefined) this.#edge(asking, node, { kind: "calls" });
  }

  /** Calls behind the last one that ran were answered without running. */
  #closeTools(): void {
    const asking = this.#asking;
    for (const call of this.#open.splice(0)) {
      const node = this.#add("tool", call.name, { startMs: null, ms: null, status: "notRun" });
      this.#decided(node, call);
      if (asking !== undefined) this.#edge(asking, node, { kind: "calls" });
    }
  }

  /** What a person said to a call. */
  #decided(node: TraceNode, call: Pick<ToolCall, "id"> | undefined): void {
    const approval = this.#from.approvals?.find(({ callId }) => callId === call?.id);
    if (approval === undefined) return;
    if (approval.decision === "reject") node.status = "denied";
    node.text = `asked you: ${approval.decision}`;
  }

  #end(): void {
    const { failure, isCutOff, endedAt, recalled = [], solver } = this.#from;
    const asking = this.#nodes.findLast(({ kind }) => kind === "tool" || kind === "step");
    const pieces = recalled.map(({ sessionId, turn, score, rationale }) => ({
      name: `turn ${turn} of ${this.#options.nameOf(sessionId)}`,
      status: "given" as const,
      rule: rationale,
      score,
    }));
    this.#hang(asking ?? this.#last, pieces);
    if (failure !== undefined) {
      const failed = this.#last.status === "failed" ? this.#last : this.#then("step", failure.node, FAILED);
      failed.text = failure.text;
      return;
    }
    if (isCutOff && this.#last.kind === "model") this.#last.status = "stopped";
    const startMs = this.#from.steps === undefined ? null : this.#sinceStart(endedAt);
    this.#then("step", "commit", { startMs, ms: null, status: "done" });
    const reply = this.#then("reply", "reply", { startMs, ms: null, status: isCutOff ? "stopped" : "done" });
    if (solver !== undefined) reply.text = solver;
    this.#hang(reply, sourceCandidates(this.#from, this.#options));
  }

  #hang(on: TraceNode, candidates: readonly Candidate[]): void {
    for (const { name, status, ...why } of candidates) {
      const known = this.#nodes.find((node) => node.kind === "candidate" && node.name === name);
      const node = known ?? this.#add("candidate", name, { startMs: null, ms: null, status });
      this.#edges.push({ from: node.id, to: on.id, kind: status, ...why });
    }
  }

  #cost({ model, counted, written }: CallReceipt): TraceNode["cost"] {
    const price = this.#options.priceOf(model);
    if (price === undefined || counted === undefined || written === undefined) return null;
    const amount = (counted * price.input + written * price.output) / 1_000_000;
    return { amount, currency: price.currency };
  }

  #sinceStart(instant: string): number | null {
    const { startedAt } = this.#from;
    return startedAt === undefined ? null : fromInstant(instant) - fromInstant(startedAt);
  }

  /** The next one in order. */
  #then(kind: TraceNode["kind"], name: string, at: Timing): TraceNode {
    const node = this.#add(kind, name, at);
    this.#edge(this.#last, node, { kind: "then" });
    this.#last = node;
    return node;
  }

  #add(kind: TraceNode["kind"], name: string, rest: Partial<TraceNode> & Times): TraceNode {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const node: TraceNode = { id: `${kind}-${count}`, kind, name, status: "done", ...rest };
    this.#nodes.push(node);
    return node;
  }

  #edge(from: TraceNode, to: TraceNode, edge: Pick<TraceEdge, "kind">): void {
    this.#edges.push({ from: from.id, to: to.id, ...edge });
  }
}

/** A call of a control model as far as it is told. */
type Asking = Pick<ControlCall, "model"> & { [Field in keyof ControlCall]?: ControlCall[Field] | undefined };

const ASKED: Readonly<Record<ControlCall["what"], string>> = {
  topic: "change of topic?",
  plan: "what to look for",
  units: "knowledge units",
  summary: "a summary of older turns",
};

type Times = Pick<TraceNode, "startMs" | "ms">;
type Timing = Pick<TraceNode, "startMs" | "ms" | "status">;
type TimedStep = readonly [name: string, startMs: number | null, ms: number | null, outcome?: Step[3]];

const FAILED: Timing = { startMs: null, ms: null, status: "failed" };

/** The steps of a turn that an earlier version has stored, as far as its record tells them. */
function withoutTimes({ messages, receipt, verdict }: Traced): TimedStep[] {
  const step = (name: string): TimedStep => [name, null, null];
  return [
    ...(verdict === undefined ? [] : [step("decideRollover")]),
    ...(receipt === undefined ? [] : [step("assembleContext")]),
    ...messages.flatMap(({ role }) =>
      role === "assistant" && receipt !== undefined
        ? [step(MODEL_STEP)]
        : role === "tool"
          ? [step(TOOL_STEP)]
          : [],
    ),
  ];
}

function totalsOf(nodes: readonly TraceNode[]): Trace["totals"] {
  const of = (kind: TraceNode["kind"]): TraceNode[] => nodes.filter((node) => node.kind === kind);
  const answered = of("model").filter(({ status }) => status !== "failed");
  const timed = nodes.filter(({ startMs, kind }) => startMs !== null && kind !== "message");
  const starts = timed.map(({ startMs }) => startMs ?? 0);
  const ends = timed.map(({ startMs, ms }) => (startMs ?? 0) + (ms ?? 0));
  const sum = (counts: readonly (number | null)[]): number | null =>
    counts.reduce((total, count) => (total === null || count === null ? null : total + count), 0);
  const costs = answered.map(({ cost }) => cost ?? null);
  const currency = costs[0]?.currency ?? "USD";
  const amount = sum(costs.map((cost) => (cost?.currency === currency ? cost.amount : null)));
  return {
    ms: timed.length === 0 ? null : Math.max(...ends) - Math.min(...starts),
    modelCalls: answered.length,
    failedCalls: of("attempt").length,
    toolCalls: of("tool").filter(({ status }) => status !== "notRun").length,
    controlCalls: of("control").length,
    controlTokens: sum(of("control").map(({ controlTokens }) => controlTokens ?? null)),
    inputTokens: sum(answered.map(({ tokens }) => tokens?.counted ?? null)),
    outputTokens: sum(answered.map(({ tokens }) => tokens?.written ?? null)),
    cost: amount === null || answered.length === 0 ? null : { amount, currency },
  };
}
