/** Plans one model call: measures what could be given, asks `planContext` what fits, and writes the call's receipt. */
import { evidenceText, factsText } from "#src/context/found-sections.ts";
import {
  planContext,
  shortTokens,
  type ContextPlan,
  type ContextRefusal,
  type PlanPart,
  type PlanStep,
  type PlanTurn,
} from "#src/context/plan-context.ts";
import {
  collapsedMessages,
  messagesTokens,
  messageTokens,
  nameResults,
  stepsOf,
} from "#src/context/shown-messages.ts";
import { summaryBudget } from "#src/context/summary.ts";
import { notesText, systemPrompt, unitsText } from "#src/context/system-prompt.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { estimateTokens } from "#src/kernel/text.ts";
import { isOut, type CallReceipt, type GivenTurns, type LeftOut } from "#src/sessions/call-receipt.ts";
import type { Message } from "#src/sessions/message.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-book.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { isLeftOut, placeIn, type OlderTurns, type Place } from "./older-turns.ts";
import { foundText, nameIn, thoughtOf, zoneOf, type PromptSources } from "./prompt.ts";
import type { OfferedTools } from "./tools.ts";

/** What a plan is made for. */
export interface CallToPlan {
  readonly sources: PromptSources;
  /** Model reference. */
  readonly model: string;
  readonly tools: OfferedTools;
  readonly older: OlderTurns;
  /** What the call before was given: what gave way there stays so. */
  readonly before: CallReceipt | undefined;
}

/** The budget of a call. */
export function budgetFor(deps: SessionDeps, agent: string, model: string): number {
  return deps.windows.budgetOf(model, deps.contextOf(agent));
}

/**
 * Refuses a message that has no room even beside the system text alone.
 *
 * @throws {LilyError} `message_too_large`
 */
export function requireRoom(
  deps: SessionDeps,
  { agent, model }: { readonly agent: string; readonly model: string },
  message: Pick<Message, "content" | "attachments">,
): void {
  const system = systemTokens(systemPrompt({ agent, handover: undefined }));
  const budgetTokens = budgetFor(deps, agent, model);
  const plan = planContext({
    budgetTokens,
    system,
    message: messageTokens(message),
    parts: [],
    turns: [],
    steps: [],
  });
  if (plan.kind === "refused") throw tooLarge(plan, model);
}

/** The prompt's own text, with room for the notes around what holds now. */
function systemTokens(system: string): number {
  const notes = notesText({
    localTime: "0000-00-00 00:00",
    timeZone: "x".repeat(32),
    parts: [],
    stepsOut: 0,
  });
  return messageTokens({ content: system }) + messageTokens({ content: notes });
}

function tooLarge({ message, system, budgetTokens }: ContextRefusal, model: string): LilyError {
  return new LilyError(
    "message_too_large",
    `the message takes about ${message} tokens; ${model} is given at most ${budgetTokens}, of which ${system} are instructions`,
    {
      next: "Send it in pieces, or choose a model with a larger window with /model. It was not stored.",
    },
  );
}

/**
 * The receipt of a call, with all that a prompt is rendered from.
 *
 * @throws {LilyError} `message_too_large`
 */
export async function planCall(deps: SessionDeps, call: CallToPlan): Promise<CallReceipt> {
  const { model, sources, tools } = call;
  const { session, turn } = sources;
  const budgetTokens = budgetFor(deps, session.activeAgent, model);
  // What gave way to a much smaller budget comes back.
  const before = (call.before?.budgetTokens ?? 0) * ROOMIER < budgetTokens ? undefined : call.before;
  const { records, hasMore } = await readOlder(deps, call, { budgetTokens, before });
  const forms = formsOf(before);
  const short = shortTokens(budgetTokens);
  const [message, ...inFlight] = turn.messages;
  const system = systemTokens(sources.system);
  const asked = message === undefined ? 0 : messageTokens(message);
  // An answer without a model quotes turns themselves.
  const summary = model === "symbolic" ? 0 : summaryBudget(budgetTokens, system + asked);
  const parts = partsOf(sources, tools);
  const plan = planContext({
    budgetTokens,
    system,
    message: asked,
    ...(summary === 0 ? {} : { summary }),
    parts,
    turns: records.map((record) => planTurn(deps, record, { form: forms.get(keyOf(record)), short })),
    hasMore,
    steps: planSteps(inFlight, call, budgetTokens),
  });
  if (plan.kind === "refused") throw tooLarge(plan, model);
  const turns = rangesOf(records, plan, { forms, short });
  const thoughts = (turn.thoughts ?? []).slice(plan.steps.lastIndexOf("out") + 1).filter(Boolean).length;
  const hasOut = hasMore || plan.turns.includes("out");
  const cuts = plan.cuts.filter((cut) => !isOut(cut));
  return {
    model,
    budgetTokens,
    tokens: Object.fromEntries(Object.entries(plan.tokens).filter(([, count]) => count > 0)),
    turns,
    ...(hasOut ? { leftOut: leftOutBefore(turns[0], call) } : {}),
    ...(inFlight.length === 0 ? {} : { steps: givenSteps(plan, inFlight.length) }),
    ...(thoughts === 0 ? {} : { thoughts }),
    ...givenOf(plan, parts),
    ...(cuts.length === 0 ? {} : { cuts }),
  };
}

/** A budget that has grown by this much is planned anew. */
const ROOMIER = 1.3;

const keyOf = ({ sessionId, turn }: Pick<TurnRecord, "sessionId" | "turn">): string => `${sessionId}/${turn}`;

/** Reads as many turns as may be given in their smallest form. */
async function readOlder(
  deps: SessionDeps,
  call: CallToPlan,
  { budgetTokens, before }: { readonly budgetTokens: number; readonly before: CallReceipt | undefined },
): Promise<{ records: TurnRecord[]; hasMore: boolean }> {
  const within = { ...call.sources, from: call.older.from };
  const records: TurnRecord[] = [];
  const short = shortTokens(budgetTokens);
  let tokens = 0;
  for await (const some of call.older.newestFirst()) {
    for (const record of some) {
      if (isLeftOut(record, before, within) || tokens > budgetTokens) return { records, hasMore: true };
      const whole = deps.shownTurns.show(record).tokens;
      if (whole === 0) continue;
      tokens += Math.min(whole, short);
      records.push(record);
    }
  }
  return { records, hasMore: false };
}

function placeOf(of: Place, { sources, older }: CallToPlan): number {
  return placeIn(of, { ...sources, from: older.from });
}

/** All turns before the first that is given; all of the conversation where none is. */
function leftOutBefore(first: GivenTurns | undefined, call: CallToPlan): LeftOut {
  const { session } = call.sources;
  const { sessionId } = session;
  const from = call.older.from ?? 1;
  const isOwn = first === undefined || first.sessionId === sessionId;
  const to = first === undefined ? session.turns : isOwn ? first.from - 1 : 0;
  const earlier = isOwn
    ? placeOf({ sessionId, turn: from }, call) - from
    : placeOf({ sessionId: first.sessionId, turn: first.from }, call) - 1;
  return { from, to, ...(earlier > 0 ? { earlier } : {}) };
}

type Form = Pick<GivenTurns, "as" | "tokens">;

/** Forms in which turns were given that were not given whole. */
function formsOf(before: CallReceipt | undefined): ReadonlyMap<string, Form> {
  const forms = new Map<string, Form>();
  for (const { sessionId, from, to, as, tokens } of before?.turns ?? []) {
    if (as === undefined) continue;
    for (let turn = from; turn <= to; turn += 1)
      forms.set(keyOf({ sessionId, turn }), { as, ...(tokens === undefined ? {} : { tokens }) });
  }
  return forms;
}

function planTurn(
  deps: SessionDeps,
  record: TurnRecord,
  { form, short }: { readonly form: Form | undefined; readonly short: number },
): PlanTurn {
  const whole = deps.shownTurns.show(record).tokens;
  const hasResults = record.messages.some(({ role }) => role === "tool");
  const collapsed = hasResults ? deps.shownTurns.show(record, { as: "collapsed" }).tokens : whole;
  return {
    whole,
    collapsed,
    shortened: Math.min(collapsed, form?.tokens ?? short),
    ...(form?.as === undefined ? {} : { was: form.as }),
  };
}

/** @param inFlight messages of the turn behind the user's */
function planSteps(
  inFlight: readonly Message[],
  { before, sources }: CallToPlan,
  budgetTokens: number,
): PlanStep[] {
  const { session, turn } = sources;
  const named = nameResults(turn.messages, { sessionId: session.sessionId, turn: turn.number });
  const earlier = before?.steps;
  const known = stepsOf(inFlight.slice(0, earlier?.messages ?? 0)).length;
  // Results that were cut when they were new are collapsed to a line from the next call on.
  const small =
    earlier === undefined ? 0 : earlier.resultTokens === undefined ? earlier.out + earlier.collapsed : known;
  return stepsOf(inFlight).map((step, index) => {
    const [first, ...results] = step;
    return {
      call:
        (first === undefined ? 0 : messageTokens(first)) +
        estimateTokens(thoughtOf(turn, index, budgetTokens)),
      results: results.map((result) => ({
        whole: messageTokens(result),
        collapsed: messagesTokens(collapsedMessages([result], named)),
      })),
      ...(index >= small
        ? {}
        : { was: index < (earlier?.out ?? 0) ? ("out" as const) : ("collapsed" as const) }),
    };
  });
}

function partsOf(sources: PromptSources, { tokens }: OfferedTools): PlanPart[] {
  const { evidence, facts: found, ledgerText, persona, profile, units } = sources;
  const facts = (records: readonly MemoryRecord[]): string => factsText(records, zoneOf(sources));
  const passages = (found: readonly FoundEvidence[]): string => evidenceText(found, zoneOf(sources));
  const parts: PlanPart[] = [
    { name: "tools", items: tokens },
    { name: "persona", items: sizesOf(persona, facts) },
    { name: "profile", items: sizesOf(profile, facts) },
    { name: "ledger", items: ledgerText === "" ? [] : [sectionTokens(ledgerText)] },
    { name: "units", items: sizesOf(units, (some) => unitsText(some, nameIn(sources))) },
    { name: "facts", items: sizesOf(found, (records) => foundText(sources, records)) },
    { name: "evidence", items: sizesOf(evidence, passages) },
  ];
  return parts.filter(({ items }) => items.length > 0);
}

/** What each entry adds to the text of a section. */
function sizesOf<T>(entries: readonly T[], textOf: (entries: readonly T[]) => string): number[] {
  let before = 0;
  return entries.map((_, index) => {
    const now = sectionTokens(textOf(entries.slice(0, index + 1)));
    const size = now - before;
    before = now;
    return size;
  });
}

/** With the blank line before it. */
const sectionTokens = (text: string): number => estimateTokens(text) + 1;

/** The given turns as ranges of one session and form, oldest first. A range may span turns that show nothing, e.g. commands. */
function rangesOf(
  records: readonly TurnRecord[],
  plan: ContextPlan,
  { forms, short }: { readonly forms: ReadonlyMap<string, Form>; readonly short: number },
): GivenTurns[] {
  const ranges: GivenTurns[] = [];
  for (const [index, record] of [...records.entries()].toReversed()) {
    const as = plan.turns[index];
    if (as === undefined || as === "out") continue;
    const { sessionId, turn } = record;
    const tokens = as === "shortened" ? (forms.get(keyOf(record))?.tokens ?? short) : undefined;
    const last = ranges.at(-1);
    const isSame = last?.sessionId === sessionId && (last.as ?? "whole") === as && last.tokens === tokens;
    if (last !== undefined && isSame) last.to = turn;
    else
      ranges.push({
        sessionId,
        from: turn,
        to: turn,
        ...(as === "whole" ? {} : { as }),
        ...(tokens === undefined ? {} : { tokens }),
      });
  }
  return ranges;
}

function givenSteps(
  { steps, resultTokens }: ContextPlan,
  messages: number,
): NonNullable<CallReceipt["steps"]> {
  return {
    messages,
    out: steps.filter((form) => form === "out").length,
    collapsed: steps.filter((form) => form === "collapsed").length,
    ...(resultTokens === undefined ? {} : { resultTokens }),
  };
}

/** How many entries of each part are given, where that is not all of them; of tools always. */
function givenOf({ given }: ContextPlan, parts: readonly PlanPart[]): Pick<CallReceipt, "given" | "tools"> {
  const counts = parts.flatMap(({ name, items }) =>
    name !== "tools" && given[name] < items.length ? [[name, given[name]] as const] : [],
  );
  return {
    ...(counts.length === 0 ? {} : { given: Object.fromEntries(counts) }),
    ...(parts.some(({ name }) => name === "tools") ? { tools: given.tools } : {}),
  };
}
