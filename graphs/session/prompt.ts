/**
 * Renders the prompt of a model call from the receipts of its turn and of the call, which name all that is in it: the same
 * in any process, also after a crash. What was erased since it was chosen is left out. Nothing of it is in the state, because
 * whatever a node returns is streamed to every client.
 */
import { AIMessage, SystemMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { agentParts } from "#src/agents/session-agents.ts";
import { cutText } from "#src/context/cut-text.ts";
import { evidenceText, factsText } from "#src/context/found-sections.ts";
import {
  handoverNote,
  ledgerPart,
  notesText,
  summarySection,
  systemPrompt,
  turnsOutLine,
  unitsText,
} from "#src/context/system-prompt.ts";
import type { Summary } from "#src/context/summary.ts";
import { shortTokens } from "#src/context/plan-context.ts";
import { nameResults, stepMessages, stepsOf } from "#src/context/shown-messages.ts";
import type { CallReceipt, GivenTurns } from "#src/sessions/call-receipt.ts";
import { canonicalJson } from "#src/kernel/json.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { joined } from "#src/kernel/markdown.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { isSamePlace, type HeldUnit } from "#src/sessions/knowledge-units.ts";
import type { Message } from "#src/sessions/message.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Noted } from "#src/sessions/transcript.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";
import { fromLangChain, toLangChain } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-book.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { mannerOf } from "./policy-of.ts";
import { type Conversation, requireChain, type RunContext } from "./run-context.ts";
import { evidenceOf, memoryOf } from "./run-memory.ts";
import type { TurnInFlight } from "./state.ts";

/** Where a prompt is read from. */
export type PromptReader = Pick<RunContext, "blobs" | "repository" | "store">;

/** The turn that is answered. */
export interface AnsweredTurn extends Noted {
  /** What its model thought before each step; not stored. */
  readonly thoughts?: readonly string[];
  readonly number: number;
  /** The user's message first. */
  readonly messages: readonly Message[];
  readonly receipt: Receipt;
}

/** What was noted when the turn began, as far as it is not cleared with it. */
export function notedIn({ ledger, units }: SessionFields, { clears }: Pick<TurnInFlight, "clears">): Noted {
  return clears === true ? { ledger: undefined, units: undefined } : { ledger, units };
}

/** What the model thought before a step, cut to size: some servers demand it back with the step. The newest has more room. */
export function thoughtOf({ thoughts = [] }: AnsweredTurn, step: number, budgetTokens: number): string {
  const most = step === thoughts.length - 1 ? Math.floor(budgetTokens / 4) : shortTokens(budgetTokens);
  return cutText(thoughts[step] ?? "", most);
}

/** What a prompt is made of beside the turns: read once, as the receipt names it. */
export interface PromptSources extends Conversation {
  readonly turn: AnsweredTurn;
  readonly system: string;
  /** Given whatever is said: who Lily is to the person, and then how it works and what it knows of them. */
  readonly persona: readonly MemoryRecord[];
  readonly profile: readonly MemoryRecord[];
  /** Found for what was said. */
  readonly facts: readonly MemoryRecord[];
  readonly evidence: readonly FoundEvidence[];
  readonly ledgerText: string;
  readonly units: readonly HeldUnit[];
}

/** The sources of a turn, of what was read for it. */
export function sourcesOf({
  records,
  ...read
}: Omit<PromptSources, "persona" | "profile" | "facts" | "ledgerText" | "units"> & {
  /** All facts, in the order of the receipt. */
  readonly records: readonly MemoryRecord[];
}): PromptSources {
  const { receipt, ledger, units = [] } = read.turn;
  const always = new Set((receipt.memory ?? []).flatMap((fact) => (fact.always === true ? [fact.id] : [])));
  // In an order of their own: which of them fit what is said changes from turn to turn.
  const standing = records
    .filter(({ id }) => always.has(id))
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at) || a.id.localeCompare(b.id));
  return {
    ...read,
    persona: standing.filter(({ domain }) => domain === "persona_core"),
    profile: standing.filter(({ domain }) => domain !== "persona_core"),
    facts: records.filter(({ id }) => !always.has(id)),
    ledgerText: receipt.ledger === undefined ? "" : ledgerPart(ledger, receipt.ledger),
    units: (receipt.units ?? []).flatMap((place) => units.find((unit) => isSamePlace(unit, place)) ?? []),
  };
}

/** Reads what the receipt of a turn names. */
export async function readSources(
  deps: SessionDeps,
  run: PromptReader,
  { session, turn }: Pick<PromptSources, "session" | "turn">,
): Promise<PromptSources> {
  const { receipt } = turn;
  const chain = await requireChain(run, session);
  const memory = memoryOf(deps, run.store, { session });
  const ids = (receipt.memory ?? []).map(({ id }) => id);
  const [records, evidence, system] = await Promise.all([
    memory === undefined || ids.length === 0 ? [] : memory.facts.byIds(memory.who, ids),
    memory && evidenceOf(deps, run.store)?.pieces(memory.who, receipt.evidence ?? []),
    systemText(deps, run, { chain, session, receipt }),
  ]);
  return sourcesOf({ chain, session, turn, records, evidence: evidence ?? [], system });
}

/** A call with the summary that its receipt names. */
interface RenderedCall {
  readonly sources: PromptSources;
  readonly call: CallReceipt;
  readonly summary?: Summary | undefined;
}

/**
 * The messages of a call: a beginning that stays the same from call to call, older turns, notes on what holds now, the
 * user's message, and the steps since.
 *
 * @param call with the older turns in it
 */
export async function renderPrompt(
  deps: SessionDeps,
  run: PromptReader,
  { sources, call, summary }: RenderedCall,
): Promise<BaseMessage[]> {
  const { turn } = sources;
  const [message, ...steps] = turn.messages;
  const { turns: given = [] } = call;
  const older = (await readRanges(deps, run, sources.chain, given)).flatMap((turns, index) =>
    turns.flatMap((record) => deps.shownTurns.show(record, given[index]).messages),
  );
  return [
    new SystemMessage(beginningOf({ sources, call, summary })),
    ...older,
    new SystemMessage(notesOf(sources, call)),
    ...(message === undefined ? [] : [toLangChain(message)]),
    ...shownSteps(steps, sources, call),
  ];
}

function beginningOf({ sources, call: { given = {}, leftOut }, summary }: RenderedCall): string {
  const { persona, profile, system } = sources;
  const standing = [...persona.slice(0, given["persona"]), ...profile.slice(0, given["profile"])];
  const out = summary === undefined ? leftOut && turnsOutLine(leftOut) : summarySection(summary);
  return joined([system, factsText(standing, zoneOf(sources)), out], "\n\n");
}

function notesOf(sources: PromptSources, { given = {}, steps }: CallReceipt): string {
  const { evidence, facts, ledgerText, turn, units } = sources;
  return notesText({
    ...turn.receipt,
    parts: [
      given["ledger"] === 0 ? "" : ledgerText,
      unitsText(units.slice(0, given["units"]), nameIn(sources)),
      foundText(sources, facts.slice(0, given["facts"])),
      evidenceText(evidence.slice(0, given["evidence"]), zoneOf(sources)),
    ],
    stepsOut: steps?.out ?? 0,
  });
}

/** The section of what was found. */
export function foundText(sources: PromptSources, records: readonly MemoryRecord[]): string {
  return factsText(records, zoneOf(sources), sources.persona.length + sources.profile.length > 0);
}

/** Sessions as people know them. */
export const nameIn =
  ({ chain }: Pick<PromptSources, "chain">) =>
  (sessionId: string): string =>
    `session ${entryOf(chain, sessionId)?.ordinal ?? "?"}`;

/** The zone in which days are told. */
export const zoneOf = ({ turn }: Pick<PromptSources, "turn">): string => turn.receipt.timeZone ?? "UTC";

/** The turns of each range, as models are shown them. */
export async function readRanges(
  deps: SessionDeps,
  { repository }: PromptReader,
  chain: Chain,
  ranges: readonly GivenTurns[],
): Promise<TurnRecord[][]> {
  const { owner, sessionKey } = chain;
  const reader = deps.shownTurns.over(repository, chain);
  return Promise.all(
    ranges.map(({ sessionId, from, to }) => reader.readTurns({ owner, sessionKey, sessionId }, { from, to })),
  );
}

/** The steps of the turn so far. Each result carries the name of its tool, which some servers demand. */
function shownSteps(
  messages: readonly Message[],
  { session, turn }: PromptSources,
  { budgetTokens, steps = { messages: 0, out: 0, collapsed: 0 } }: CallReceipt,
): BaseMessage[] {
  const named = nameResults(turn.messages, { sessionId: session.sessionId, turn: turn.number });
  const shown = stepMessages(stepsOf(messages.slice(0, steps.messages)), steps, named);
  const tools = new Map<string, string>();
  let step = steps.out;
  return shown.map((message) => {
    for (const { id, name } of message.toolCalls ?? []) tools.set(id, name);
    const given = toLangChain(message);
    const name = tools.get(message.toolCallId ?? "");
    if (ToolMessage.isInstance(given) && name !== undefined)
      return new ToolMessage({ content: given.content, tool_call_id: given.tool_call_id, name });
    if (!AIMessage.isInstance(given)) return given;
    const thought = thoughtOf(turn, step, budgetTokens);
    step += 1;
    if (thought === "") return given;
    const { content, tool_calls = [] } = given;
    return new AIMessage({ content, tool_calls, additional_kwargs: { reasoning_content: thought } });
  });
}

/** Hashes of a prompt: of its first message, and of all of it. */
export function hashesOf(prompt: readonly BaseMessage[]): Required<Pick<CallReceipt, "beginning" | "sent">> {
  const flat = prompt.map((message) => fromLangChain(message, ""));
  const hash = (value: unknown): string =>
    sha256Of(new TextEncoder().encode(canonicalJson(value))).slice(0, 16);
  return { beginning: hash(flat[0]), sent: hash(flat) };
}

/** The system's own text, which does not change from turn to turn. */
export async function systemText(
  deps: SessionDeps,
  { blobs, repository }: Pick<PromptReader, "blobs" | "repository">,
  { chain, session, receipt }: Conversation & { readonly receipt: Receipt },
): Promise<string> {
  const { persona, skills } = await agentParts(blobs, session, receipt.budgetTokens);
  const { handover: named } = receipt;
  const { owner, sessionKey } = chain;
  const last =
    named && (await repository.readTurn({ owner, sessionKey, sessionId: named.sessionId }, named.turn));
  return systemPrompt({
    persona: persona.text,
    skills: skills.text,
    style: session.style,
    verbosity: mannerOf(deps, session).verbosity,
    agent: session.activeAgent,
    handover: last && handoverNote(entryOf(chain, last.sessionId)?.title, last),
  });
}
