/** Derives the trace of a turn from its record, which keeps of it only what nothing else tells. Pure. */
import { fromInstant } from "#src/kernel/clock.ts";
import { joined, quoted } from "#src/kernel/markdown.ts";
import { callsOf, tokensIn, type CallReceipt, type WholeCall } from "#src/sessions/call-receipt.ts";
import type { Chain } from "#src/sessions/chain.ts";
import { spokenText, type Message, type ToolCall } from "#src/sessions/message.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import type { ControlCall, Explanation, FailedAttempt, Step } from "#src/sessions/turn-record.ts";
import { pluginsText } from "./explain-turn.ts";
import {
  callCandidates,
  deniedUnits,
  sourceCandidates,
  turnCandidates,
  type Candidate,
} from "./trace-candidates.ts";
import type { PriceOf, Trace, TraceEdge, TraceNode } from "./trace.ts";
import { verdictText } from "./verdict-text.ts";
import type { WhichTurn } from "./which-turn.ts";

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

type Traceable = Extract<WhichTurn, { readonly kind: "turn" | "failure" }>;

/** The trace of a turn that was committed, or failed. */
export function traceOf(which: Traceable, options: TraceOptions): Trace {
  const head = headOf(which);
  const { nodes, edges } = new Graph(head, tracedOf(which), options);
  return { ...head, totals: totalsOf(nodes), graph: { nodes, edges } };
}

type TraceHead = Omit<Trace, "totals" | "graph">;

function headOf(which: Traceable): TraceHead {
  if (which.kind === "failure") {
    const { sessionId, requestId, deliveryId, code, startedAt = null, at: endedAt } = which.failure;
    return { v: 1, sessionId, turn: null, requestId, deliveryId, status: "failed", code, startedAt, endedAt };
  }
  const { sessionId, turn, deliveryId, status, at: endedAt, messages, explanation, reply } = which.turn;
  const { requestId } = explanation;
  const code = reply.envelope?.code ?? null;
  const startedAt = messages[0]?.timestamp ?? endedAt;
  return { v: 1, sessionId, turn, requestId, deliveryId, status, code, startedAt, endedAt };
}

/** What a trace is derived from. */
interface Traced extends Omit<Explanation, "requestId" | "attempts" | "calls"> {
  readonly calls: readonly WholeCall[];
  readonly attempts?: readonly FailedAttempt[] | undefined;
  readonly text: string;
  /** None of a turn that failed: nothing of an answer is kept of it. */
  readonly messages: readonly Message[];
  /** What the call that failed was to be given. */
  readonly plan?: CallReceipt | undefined;
  /** Names of its tool calls, where there are no messages. */
  readonly tools?: readonly string[] | undefined;
  readonly failure?: FailedTurn;
}

function tracedOf(which: Traceable): Traced {
  if (which.kind === "failure") {
    const { failure } = which;
    return { ...failure, calls: callsOf(failure.sessionId, failure.calls), messages: [], failure };
  }
  const { sessionId, messages, explanation } = which.turn;
  return {
    ...explanation,
    calls: callsOf(sessionId, explanation.calls),
    text: spokenText(messages.find(({ role }) => role === "user")),
    messages,
  };
}

/** Steps whose nodes are named by what they called. */
const MODEL_STEP = "callModel";
const TOOL_STEP = "runTools";

/** The graph in the making: one step behind the other, each with what hangs on it. */
class Graph {
  readonly nodes: TraceNode[] = [];
  readonly edges: TraceEdge[] = [];
  readonly #head: TraceHead;
  readonly #from: Traced;
  readonly #options: TraceOptions;
  /** Calls of control models that have no node yet. */
  readonly #asked: ControlCall[];
  #last: TraceNode;
  #models = 0;
  /** Tool calls of the newest model call that have no step yet, and the call. */
  #open: Pick<ToolCall, "id" | "name">[] = [];
  #asking: TraceNode | undefined;

  constructor(head: TraceHead, from: Traced, options: TraceOptions) {
    this.#head = head;
    this.#from = from;
    this.#options = options;
    this.#asked = [...(from.controlCalls ?? [])];
    this.#last = this.#add("message", "message", { startMs: 0, text: quoted(from.text) });
    const { failure } = from;
    const steps = from.steps ?? withoutTimes(from);
    for (const [index, step] of steps.entries())
      this.#step(step, failure !== undefined && index === steps.length - 1 && step[0] === failure.node);
    this.#closeTools();
    this.#end();
  }

  #step([name, startMs, ms, outcome]: TimedStep, isFailed: boolean): void {
    const at: Timing = { startMs, ms, status: isFailed ? "failed" : "done" };
    if (name === TOOL_STEP) return this.#tool({ ...at, status: outcome ?? at.status });
    this.#closeTools();
    if (name === MODEL_STEP) return this.#model(at);
    const node = this.#then("step", name, at);
    if (name === "decideRollover") this.#decision(node);
    if (name !== "assembleContext") return;
    this.#asks(node, "plan");
    const text = pluginsText(this.#from.plugins);
    if (text !== undefined) node.text = text;
    this.#hang(node, turnCandidates(this.#from, this.#options));
  }

  #decision(node: TraceNode): void {
    const { verdict } = this.#from;
    if (verdict === undefined) return;
    const did = verdict.action === "stay" ? "it goes on" : "it ends";
    node.text = `${did}: ${verdictText(verdict, this.#options.timeZone)}`;
    this.#asks(node, "topic");
  }

  /** Calls of a control model that a step has made. */
  #asks(node: TraceNode, what: ControlCall["what"], most = Infinity): void {
    for (const call of this.#asked.filter((one) => one.what === what).slice(0, most)) {
      this.#asked.splice(this.#asked.indexOf(call), 1);
      const { model, at, ms, tokens: controlTokens = null, why } = call;
      const text = joined([ASKED[what], why], "; ");
      const told = { startMs: this.#sinceStart(at), ms, text, controlTokens, cost: null };
      this.#edge(node, this.#add("control", model, told), "asks");
    }
  }

  #model(at: Timing): void {
    const { calls, attempts = [], messages, solver, plan, extracted } = this.#from;
    const index = this.#models;
    this.#models += 1;
    const isFailed = at.status === "failed";
    const call = calls[index] ?? (isFailed ? plan : undefined);
    // A turn whose budget left no call ends in this step without one.
    const kind = call !== undefined || isFailed ? "model" : "step";
    const name = call?.model ?? (solver === "symbolic" ? solver : MODEL_STEP);
    const node = this.#then(kind, name, at);
    if (call !== undefined) {
      const { counted = null, written = null, budgetTokens: budget } = call;
      node.tokens = { estimated: tokensIn(call), budget, counted, written };
      node.cost = isFailed ? null : this.#cost(call);
      this.#hang(node, callCandidates(this.#from, index, { call, nameOf: this.#options.nameOf }));
      // Each call is planned by itself, and its summary asked for with it.
      if (call.summaryBy !== undefined) this.#asks(node, "summary", 1);
    }
    const answer = messages.filter(({ role }) => role === "assistant")[index];
    this.#open = [...(answer?.toolCalls ?? [])];
    this.#asking = node;
    if (this.#open.length > 0) node.text = `asked for ${this.#open.map((one) => one.name).join(", ")}`;
    if (index === 0) {
      this.#asks(node, "units");
      this.#hang(node, deniedUnits(extracted));
    }
    for (const { model, kind: text, at: when } of attempts.filter(({ call: of = 1 }) => of === index + 1)) {
      const tried = { startMs: this.#sinceStart(when), status: "failed", text, cost: null } as const;
      this.#edge(node, this.#add("attempt", model, tried), "tries");
    }
  }

  /** The next call of a tool; without times: it was answered without running. */
  #tool(at?: Timing): void {
    const { tools = [], approvals = [] } = this.#from;
    const call = this.#open.shift();
    const name = call?.name ?? tools[this.nodes.filter(({ kind }) => kind === "tool").length] ?? TOOL_STEP;
    const node =
      at === undefined ? this.#add("tool", name, { status: "notRun" }) : this.#then("tool", name, at);
    const approval = approvals.find(({ callId }) => callId === call?.id);
    if (approval?.decision === "reject") node.status = "denied";
    if (approval !== undefined) node.text = `asked you: ${approval.decision}`;
    if (this.#asking !== undefined) this.#edge(this.#asking, node, "calls");
  }

  /** Calls behind the last one that ran. */
  #closeTools(): void {
    while (this.#open.length > 0) this.#tool();
  }

  #end(): void {
    const { failure, recalled = [], solver, steps } = this.#from;
    const { nameOf } = this.#options;
    const pieces = recalled.map(({ sessionId, turn, score, rationale: rule }) => ({
      name: `turn ${turn} of ${nameOf(sessionId)}`,
      status: "given" as const,
      rule,
      score,
    }));
    this.#hang(this.nodes.findLast(({ kind }) => kind === "tool" || kind === "step") ?? this.#last, pieces);
    if (failure !== undefined) {
      const isThere = this.#last.status === "failed";
      const failed = isThere ? this.#last : this.#then("step", failure.node, { status: "failed" });
      failed.text = `${failure.code}: ${failure.message}`;
      return;
    }
    const isCutOff = this.#head.status === "stopped" || this.#head.status === "interrupted";
    if (isCutOff && this.#last.kind === "model") this.#last.status = "stopped";
    const startMs = steps === undefined ? null : this.#sinceStart(this.#head.endedAt);
    this.#then("step", "commit", { startMs });
    const reply = this.#then("reply", "reply", { startMs, status: isCutOff ? "stopped" : "done" });
    if (solver !== undefined) reply.text = solver;
    this.#hang(reply, sourceCandidates(this.#from, this.#options));
  }

  #hang(on: TraceNode, candidates: readonly Candidate[]): void {
    for (const { name, status, ...why } of candidates) {
      const known = this.nodes.find((node) => node.kind === "candidate" && node.name === name);
      const { id } = known ?? this.#add("candidate", name, { status });
      this.edges.push({ from: id, to: on.id, kind: status, ...why });
    }
  }

  #cost({ model, counted, written }: CallReceipt): TraceNode["cost"] {
    const price = this.#options.priceOf(model);
    if (price === undefined || counted === undefined || written === undefined) return null;
    const amount = (counted * price.input + written * price.output) / 1_000_000;
    return { amount, currency: price.currency };
  }

  #sinceStart(instant: string): number | null {
    const { startedAt } = this.#head;
    return startedAt === null ? null : fromInstant(instant) - fromInstant(startedAt);
  }

  /** The next one in order. */
  #then(kind: TraceNode["kind"], name: string, at: Partial<Timing>): TraceNode {
    const node = this.#add(kind, name, at);
    this.#edge(this.#last, node, "then");
    return (this.#last = node);
  }

  #add(kind: TraceNode["kind"], name: string, rest: Partial<TraceNode>): TraceNode {
    const id = `${kind}-${this.nodes.filter((node) => node.kind === kind).length + 1}`;
    const node: TraceNode = { id, kind, name, startMs: null, ms: null, status: "done", ...rest };
    this.nodes.push(node);
    return node;
  }

  #edge(from: TraceNode, to: TraceNode, kind: TraceEdge["kind"]): void {
    this.edges.push({ from: from.id, to: to.id, kind });
  }
}

const ASKED: Readonly<Record<ControlCall["what"], string>> = {
  topic: "change of topic?",
  plan: "what to look for",
  units: "knowledge units",
  summary: "a summary of older turns",
};

type Timing = Pick<TraceNode, "startMs" | "ms" | "status">;
type TimedStep = readonly [name: string, startMs: number | null, ms: number | null, outcome?: Step[3]];

/** The steps of a turn that an earlier version has stored, as far as its record tells them. */
function withoutTimes({ messages, receipt, verdict }: Traced): TimedStep[] {
  const called = messages.map(({ role }) =>
    role === "assistant" ? MODEL_STEP : role === "tool" ? TOOL_STEP : undefined,
  );
  const names = [
    verdict && "decideRollover",
    ...(receipt === undefined ? [] : ["assembleContext", ...called]),
  ].filter((name) => name !== undefined);
  return names.map((name) => [name, null, null]);
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
