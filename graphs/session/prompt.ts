/**
 * Renders the prompt of a turn from its receipt, which names all that is in it: the same in any process, also after a
 * crash. What was erased since it was chosen is left out. Nothing of it is in the state, because whatever a node returns
 * is streamed to every client.
 */
import { SystemMessage, type BaseMessage } from "@langchain/core/messages";
import { evidenceText } from "#src/context/evidence-section.ts";
import { ledgerPart } from "#src/context/ledger-section.ts";
import { handoverNote, systemPrompt } from "#src/context/system-prompt.ts";
import { factsText } from "#src/context/memory-section.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-rows.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { requireChain, type RunContext } from "./run-context.ts";
import { agentParts } from "./run-agents.ts";
import { evidenceOf } from "./run-evidence.ts";
import { memoryOf, memoryOwner } from "./run-memory.ts";

/** A prompt without the turn in flight, and what it was rendered from. */
export interface Prompt {
  readonly messages: readonly BaseMessage[];
  /** Committed turns, oldest first. */
  readonly turns: readonly TurnRecord[];
  readonly facts: readonly MemoryRecord[];
  readonly passages: readonly FoundEvidence[];
}

/** What a prompt is rendered for. */
export interface PromptSubject {
  readonly session: SessionFields;
  readonly receipt: Receipt;
}

/** Reads what the receipt names and renders it. */
export async function renderPrompt(
  deps: SessionDeps,
  run: RunContext,
  { session, receipt }: PromptSubject,
): Promise<Prompt> {
  const chain = await requireChain(run, session);
  const [turns, facts, passages, system] = await Promise.all([
    readTurns(deps, run, { chain, receipt }),
    readFacts(deps, run, { session, receipt }),
    readPassages(deps, run, { session, receipt }),
    systemText(run, { chain, session, receipt }),
  ]);
  const ledger = receipt.ledger === undefined ? "" : ledgerPart(session.ledger, receipt.ledger);
  const { timeZone = "UTC" } = receipt;
  const head = [system, ledger, factsText(facts, timeZone), evidenceText(passages, timeZone)]
    .filter((part) => part !== "")
    .join("\n\n");
  const shown = turns.flatMap((turn) => deps.shownTurns.show(turn).messages);
  return { messages: [new SystemMessage(head), ...shown], turns, facts, passages };
}

async function readTurns(
  deps: SessionDeps,
  { repository }: RunContext,
  { chain, receipt }: { readonly chain: Chain; readonly receipt: Receipt },
): Promise<TurnRecord[]> {
  const reader = deps.shownTurns.over(repository, chain);
  const ranges = receipt.turns.map(({ sessionId, from, to }) =>
    reader.readTurns({ owner: chain.owner, sessionKey: chain.sessionKey, sessionId }, { from, to }),
  );
  return (await Promise.all(ranges)).flat();
}

async function readFacts(
  deps: SessionDeps,
  { store }: RunContext,
  { session, receipt }: PromptSubject,
): Promise<MemoryRecord[]> {
  const memory = memoryOf(deps, store, { session });
  if (memory === undefined) return [];
  return memory.facts.byIds(
    memory.who,
    (receipt.memory ?? []).map(({ id }) => id),
  );
}

async function readPassages(deps: SessionDeps, { store }: RunContext, { session, receipt }: PromptSubject) {
  const owner = memoryOwner(deps, session);
  if (owner === undefined) return [];
  return (await evidenceOf(deps, store)?.pieces({ owner }, receipt.evidence ?? [])) ?? [];
}

/** The fixed part of the prompt; what it takes of the budget is counted from it too. */
export async function systemText(
  run: RunContext,
  { chain, session, receipt }: PromptSubject & { readonly chain: Chain },
): Promise<string> {
  return systemPrompt({
    ...(await agentParts(run.blobs, session, receipt.budgetTokens)),
    style: session.style,
    verbosity: session.modelConfig.verbosity,
    agent: session.activeAgent,
    localTime: receipt.localTime ?? "",
    timeZone: receipt.timeZone ?? "",
    handover: await readHandover(run, chain, receipt.handover),
  });
}

async function readHandover(
  { repository }: RunContext,
  chain: Chain,
  named: Receipt["handover"],
): Promise<string | undefined> {
  if (named === undefined) return undefined;
  const { owner, sessionKey } = chain;
  const last = await repository.readTurn({ owner, sessionKey, sessionId: named.sessionId }, named.turn);
  return last === undefined ? undefined : handoverNote(entryOf(chain, named.sessionId)?.title, last);
}
