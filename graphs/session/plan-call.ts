/**
 * Plans one model call: reads and measures what could be given, asks `planContext` what fits, and writes the call's receipt.
 * What had given way in the call before stays so, that the prompt begins with the same bytes.
 */
import { evidenceText, factsText } from "#src/context/found-sections.ts";
import {
  type ContextPlan,
  type ContextRefusal,
  planContext,
  type PlanPart,
  type PlanStep,
  type PlanTurn,
  shortTokens,
  summaryBudget,
} from "#src/context/plan-context.ts";
import {
  collapsedMessages,
  messagesTokens,
  messageTokens,
  nameResults,
  stepsOf,
} from "#src/context/shown-messages.ts";
import { notesText, systemPrompt, unitsText } from "#src/context/system-prompt.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { estimateTokens } from "#src/kernel/text.ts";
import {
  callsOf,
  type CallReceipt,
  type GivenTurns,
  isOut,
  isWithin,
  type LeftOut,
  type Place,
} from "#src/sessions/call-receipt.ts";
import { entryOf, readingOrder } from "#src/sessions/chain.ts";
import type { Message } from "#src/sessions/message.ts";
import { turnsNewestFirst } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-book.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { foundText, nameIn, thoughtOf, zoneOf, type PromptSources } from "./prompt.ts";
import type { Conversation, RunContext } from "./run-context.ts";
import type { TurnInFlight } from "./state.ts";
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

/** The turns before the one that is answered. */
export interface OlderTurns {
  readonly newestFirst: () => AsyncGenerator<readonly TurnRecord[]>;
  /** First turn of the session that is context, where the working set was cleared in place. */
  readonly from: number | undefined;
}

/** What tells where a turn stands. */
type Within = Conversation & Pick<OlderTurns, "from">;

/** The turns of a conversation before `turn`; all of them without it. */
export function olderTurnsOf(
  deps: SessionDeps,
  { repository }: Pick<RunContext, "repository">,
  { chain, session, turn }: Conversation & { readonly turn?: TurnInFlight },
): OlderTurns {
  const from = turn?.clears === true ? turn.number : session.contextFrom;
  const range = { sessionId: session.sessionId, latestTurns: session.turns, from };
  return {
    from,
    newestFirst: () => turnsNewestFirst(deps.shownTurns.over(repository, chain), chain, range),
  };
}

/** The receipt of the conversation's latest model call, looked for in its newest turns. */
export async function callBefore(older: OlderTurns, within: Conversation): Promise<CallReceipt | undefined> {
  for await (const turns of older.newestFirst()) {
    const last = turns.find(({ explanation: { calls = [] } }) => calls.length > 0);
    if (last !== undefined) return lastCallOf(last, within);
    if (turns[0]?.sessionId === within.session.sessionId) return undefined;
  }
  return undefined;
}

/** The last call of a turn, also of a session that this one continues, in whose terms it is then told. */
function lastCallOf(
  { sessionId, explanation: { calls } }: TurnRecord,
  { chain, session }: Conversation,
): CallReceipt | undefined {
  const last = callsOf(sessionId, calls).at(-1);
  if (last === undefined) return undefined;
  const { steps: _steps, leftOut, ...given } = last;
  if (leftOut === undefined || sessionId === session.sessionId) return { ...given, ...defined({ leftOut }) };
  const { from, to, earlier = 0 } = leftOut;
  const place = to < from ? earlier : placeIn({ sessionId, turn: to }, { chain, session, from: undefined });
  return { ...given, leftOut: { from: 1, to: 0, earlier: place } };
}

/** Whether a turn had given way in the call before, or the person had it told in a summary. */
export function isLeftOut(
  of: Place,
  before: Pick<CallReceipt, "leftOut"> | undefined,
  within: Within,
): boolean {
  const { to = 0, earlier = 0 } = before?.leftOut ?? {};
  const lastOut = within.from === undefined ? earlier + to : to;
  return (lastOut > 0 && placeIn(of, within) <= lastOut) || isCompacted(of, within);
}

/** Whether the person had it told in a summary. */
export function isCompacted(of: Place, { chain, session }: Conversation): boolean {
  const { compacted, contextFrom: from } = session;
  const within = { chain, session, from };
  return compacted !== undefined && placeIn(of, within) <= placeIn(compacted, within);
}

/** The place of a turn in the conversation, from 1. */
function placeIn(of: Place, { chain, session, from }: Within): number {
  if (from !== undefined) return of.turn;
  let before = 0;
  for (const { sessionId, upTo } of readingOrder(chain, session.sessionId)) {
    if (sessionId === of.sessionId) return before + of.turn;
    before += upTo ?? entryOf(chain, sessionId)?.sealed?.turns ?? 0;
  }
  return before;
}

/** The budget of a call. */
export function budgetFor(deps: SessionDeps, agent: string, model: string): number {
  return deps.windows.budgetOf(model, deps.agents.contextOf(agent));
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
  const { older, hasMore } = await readOlder(deps, call, { budgetTokens, before });
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
    turns: older,
    hasMore,
    steps: planSteps(inFlight, call, budgetTokens),
  });
  if (plan.kind === "refused") throw tooLarge(plan, model);
  const turns = rangesOf(older, plan.turns);
  const thoughts = (turn.thoughts ?? []).slice(plan.steps.lastIndexOf("out") + 1).filter(Boolean).length;
  const hasOut = hasMore || plan.turns.includes("out");
  const given = parts.flatMap(({ name, items }) =>
    name !== "tools" && plan.given[name] < items.length ? [[name, plan.given[name]] as const] : [],
  );
  const cuts = plan.cuts.filter((cut) => !isOut(cut));
  return {
    model,
    budgetTokens,
    tokens: Object.fromEntries(Object.entries(plan.tokens).filter(([, count]) => count > 0)),
    turns,
    ...(hasOut ? { leftOut: leftOutBefore(turns[0], call) } : {}),
    ...(inFlight.length === 0 ? {} : { steps: givenSteps(plan, inFlight.length) }),
    ...(thoughts === 0 ? {} : { thoughts }),
    ...(given.length === 0 ? {} : { given: Object.fromEntries(given) }),
    ...(tools.tokens.length === 0 ? {} : { tools: plan.given.tools }),
    ...(cuts.length === 0 ? {} : { cuts }),
  };
}

/** A budget that has grown by this much is planned anew. */
const ROOMIER = 1.3;

/** A turn that may be given. */
interface OlderTurn extends PlanTurn {
  readonly record: TurnRecord;
  /** Most tokens of its shortened form. */
  readonly tokens: number;
}

/** Reads as many turns as may be given in their smallest form. */
async function readOlder(
  deps: SessionDeps,
  { older: { from, newestFirst }, sources: { chain, session } }: CallToPlan,
  { budgetTokens, before }: { readonly budgetTokens: number; readonly before: CallReceipt | undefined },
): Promise<{ older: OlderTurn[]; hasMore: boolean }> {
  const older: OlderTurn[] = [];
  const short = shortTokens(budgetTokens);
  let least = 0;
  for await (const some of newestFirst()) {
    for (const record of some) {
      if (isLeftOut(record, before, { chain, session, from }) || least > budgetTokens)
        return { older, hasMore: true };
      const whole = deps.shownTurns.show(record).tokens;
      if (whole === 0) continue;
      least += Math.min(whole, short);
      const hasResults = record.messages.some(({ role }) => role === "tool");
      const collapsed = hasResults ? deps.shownTurns.show(record, { as: "collapsed" }).tokens : whole;
      const { as: was, tokens = short } = before?.turns?.find((range) => isWithin(record, range)) ?? {};
      older.push({
        record,
        tokens,
        whole,
        collapsed,
        shortened: Math.min(collapsed, tokens),
        ...defined({ was }),
      });
    }
  }
  return { older, hasMore: false };
}

/** All turns before the first that is given; all of the conversation where none is. */
function leftOutBefore(given: GivenTurns | undefined, { older, sources }: CallToPlan): LeftOut {
  const { sessionId, turns } = sources.session;
  const { from = 1 } = older;
  const first = given ?? { sessionId, from: turns + 1 };
  const isOwn = first.sessionId === sessionId;
  const begin = { sessionId: first.sessionId, turn: isOwn ? from : first.from };
  const earlier = placeIn(begin, { ...sources, from: older.from }) - from;
  return { from, to: isOwn ? first.from - 1 : 0, ...(earlier > 0 ? { earlier } : {}) };
}

/** @param inFlight messages of the turn behind the user's */
function planSteps(
  inFlight: readonly Message[],
  { before, sources }: CallToPlan,
  budgetTokens: number,
): PlanStep[] {
  const { session, turn } = sources;
  const named = nameResults(turn.messages, { sessionId: session.sessionId, turn: turn.number });
  const { messages = 0, out = 0, collapsed = 0, resultTokens } = before?.steps ?? {};
  // Results that were cut when they were new are collapsed to a line from the next call on.
  const small = resultTokens === undefined ? out + collapsed : stepsOf(inFlight.slice(0, messages)).length;
  return stepsOf(inFlight).map(([first, ...results], index) => ({
    call:
      (first === undefined ? 0 : messageTokens(first)) + estimateTokens(thoughtOf(turn, index, budgetTokens)),
    results: results.map((result) => ({
      whole: messageTokens(result),
      collapsed: messagesTokens(collapsedMessages([result], named)),
    })),
    ...(index < small ? { was: index < out ? ("out" as const) : ("collapsed" as const) } : {}),
  }));
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
  const sums = entries.map((_, index) => sectionTokens(textOf(entries.slice(0, index + 1))));
  return sums.map((tokens, index) => tokens - (sums[index - 1] ?? 0));
}

/** With the blank line before it. */
const sectionTokens = (text: string): number => estimateTokens(text) + 1;

/** The given turns as ranges of one session and form, oldest first. A range may span turns that show nothing, e.g. commands. */
function rangesOf(older: readonly OlderTurn[], forms: ContextPlan["turns"]): GivenTurns[] {
  const ranges: GivenTurns[] = [];
  for (const [index, { record, tokens }] of [...older.entries()].toReversed()) {
    const form = forms[index] ?? "out";
    if (form === "out") continue;
    const { sessionId, turn } = record;
    const given = form === "whole" ? {} : form === "collapsed" ? { as: form } : { as: form, tokens };
    const last = ranges.at(-1);
    if (last?.sessionId === sessionId && last.as === given.as && last.tokens === given.tokens) last.to = turn;
    else ranges.push({ sessionId, from: turn, to: turn, ...given });
  }
  return ranges;
}

function givenSteps(
  { steps, resultTokens }: ContextPlan,
  messages: number,
): NonNullable<CallReceipt["steps"]> {
  const count = (form: string): number => steps.filter((one) => one === form).length;
  return { messages, out: count("out"), collapsed: count("collapsed"), ...defined({ resultTokens }) };
}
