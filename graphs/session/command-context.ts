/** What commands look at, in a run of the graph and beside one. */
import { createBlobStore } from "#src/storage/store-session-repository.ts";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { createSessionAgents } from "#src/agents/session-agents.ts";
import { withContents } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import {
  type CommandContext,
  readsOnly,
  type ShownPrompt,
  type SessionPlugins,
  runPlain,
} from "#src/commands/command.ts";
import { findCommand, unknownCommand } from "#src/commands/registry.ts";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import type { ErasureDeps } from "#src/erasure/place.ts";
import { previewText } from "#src/erasure/preview.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { parseModelReference, printModelReference } from "#src/models/model-reference.ts";
import { withNotesInMessage } from "#src/models/wire/leave-out.ts";
import { unusable } from "#src/preparation/plugins.ts";
import { callsOf } from "#src/sessions/call-receipt.ts";
import { entryOf, latestEntry } from "#src/sessions/chain.ts";
import { type Slot, SLOTS } from "#src/sessions/plugin-choices.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";
import type { ReadCommand } from "#src/turns/turn-deps.ts";
import type { SessionRunner } from "#src/turns/runner.ts";
import { commandReply } from "./delivery.ts";
import { beginChain, catchUp, newFields, solverOf } from "./locate-session.ts";
import { advance } from "./nodes/commit.ts";
import { controlModelOf, pluginFor, pluginsOf, policyOf, surroundingsOf } from "./policy-of.ts";
import { hashesOf, type PromptReader, readSources, renderPrompt } from "./prompt.ts";
import type { Conversation } from "./run-context.ts";
import { evidenceOf, gateOf, memoryOf, recallCharacters } from "./run-memory.ts";
import { storedSummary } from "./summaries.ts";
import { toolsOf } from "./tools.ts";

/** Where a command is given, and what only some have. */
interface CommandSubject extends Conversation, Pick<CommandContext, "compact" | "erasing" | "unanswered"> {
  /** Number of the turn that the command is. */
  readonly turn?: number | undefined;
}

/** The context of a command in a session. @throws {LilyError} `session_not_found` when the chain has no such session */
export async function commandContext(
  deps: SessionDeps,
  run: PromptReader,
  { turn, ...subject }: CommandSubject,
): Promise<CommandContext> {
  const { chain, session } = subject;
  const { activeAgent, sessionId } = session;
  const { repository, store, blobs } = run;
  const { agents, localOwner, limits } = deps;
  const { defaultAgent } = agents;
  const entry = entryOf(chain, sessionId);
  if (entry === undefined)
    throw new LilyError("session_not_found", `session ${sessionId} is not part of its key's chain`);
  const last = session.turns === 0 ? undefined : await repository.readTurn(session, session.turns);
  return {
    nowMs: deps.clock.now(),
    ...subject,
    repository,
    entry,
    verdict: last?.explanation.verdict ?? null,
    agents: createSessionAgents({
      files: deps.agentFiles,
      blobs,
      session,
      defaultAgent,
      modelOf: deps.agents.defaultModel,
      configured: deps.agents.configuredAgents,
      localOwner,
      budgetTokens: limits.contextTokens,
    }),
    tools: toolsOf(deps, blobs, session),
    memory: memoryOf(deps, store, { session, ...defined({ turn }) }),
    evidence: evidenceOf(deps, store),
    promptOf: (record, index) => shownPrompt(deps, run, { chain, session, record, index }),
    policy: policyOf(deps, session),
    recallCharacters: recallCharacters(limits),
    solver: solverOf(deps, session),
    configured: deps.agents.manner(activeAgent),
    controlModel: controlModelOf(deps, session),
    plugins: pluginsFor(deps, session),
    mode: deps.lifecycleMode,
    storage: deps.storageName,
    priceOf: deps.priceOf,
    normalizeModel: (reference) => printModelReference(parseModelReference(reference)),
    files: deps.files,
    gate: gateOf(deps),
  };
}

function pluginsFor(deps: SessionDeps, session: SessionFields): SessionPlugins {
  const { plugins: all, problems } = pluginsOf(deps);
  const there = surroundingsOf(deps, session);
  const isOff = (slot: Slot): boolean => slot === "sd" && deps.extractsUnits === "off";
  const slots = SLOTS.filter((slot) => all.some((plugin) => plugin.slot === slot) && !isOff(slot));
  return {
    all,
    problems,
    used: Object.fromEntries(slots.map((slot) => [slot, pluginFor(deps, session, slot).used])),
    objection: (plugin) =>
      isOff(plugin.slot)
        ? "nothing is noted, for units.extract in config.json is off"
        : unusable(plugin, there),
  };
}

/** What commands beside the graph work on. */
export interface BesideSources {
  readonly repository: SessionRepository;
  readonly runner: SessionRunner;
  readonly store: BaseStore;
  readonly erasure: ErasureDeps;
  /** The message of a key that a program which ended has left unanswered. */
  readonly unanswered: (ref: KeyRef) => Promise<UnansweredMessage | undefined>;
}

/** The context of a command that is given on a key; of the latest session, unless another one of the key is named. */
type ContextOf = (ref: KeyRef, deliveryId: string, sessionId?: string) => Promise<CommandContext>;

/** Answers a command that changes nothing beside the graph: no checkpoint, no lock, no waiting for a turn. */
export function createReadCommand(contextOf: ContextOf): ReadCommand {
  return async ({ owner, sessionKey, deliveryId, name, args }) => {
    const context = await contextOf({ owner, sessionKey }, deliveryId);
    const command = findCommand(name);
    const envelope =
      command !== undefined && command.kind !== "rotating" && readsOnly(command, args)
        ? (await runPlain(command, args, context)).envelope
        : unknownCommand(name);
    const isOpened = context.chain.revision > 0;
    return commandReply(envelope, { sessionId: isOpened ? context.session.sessionId : "", deliveryId });
  };
}

/** Makes the context of a command that is given on a key, as it stands; nothing is opened by it. */
export function createReadContext(deps: SessionDeps, sources: BesideSources): ContextOf {
  const { repository, runner, store, erasure, unanswered } = sources;
  return async ({ owner, sessionKey }, deliveryId, sessionId) => {
    const stored = await repository.readChain({ owner, sessionKey });
    const { chain, contents } =
      stored === undefined
        ? await unopened(deps, { owner, sessionKey, deliveryId })
        : { chain: stored, contents: [] };
    const run = { repository, store, blobs: withContents(contents, createBlobStore(store)) };
    const entry = entryOf(chain, sessionId ?? chain.latest) ?? latestEntry(chain);
    const checkpoint = stored === undefined ? undefined : await runner.readSession(entry.sessionId);
    const known = checkpoint ?? (await newFields(deps, run, { chain, entry }));
    const { session } = await catchUp(deps, run, known);
    return commandContext(deps, run, {
      chain,
      session,
      erasing: { preview: (wanted) => previewText(erasure, { owner, ...wanted }) },
      unanswered: () => unanswered({ owner, sessionKey }),
    });
  };
}

/** The chain as it would begin with the first message; reading never stores it, which its revision tells. */
async function unopened(deps: SessionDeps, ref: { owner: string; sessionKey: string; deliveryId: string }) {
  const sessionId = deriveUuid("unopened", ref.owner, ref.sessionKey);
  const { chain, contents } = await beginChain(
    deps,
    { ...ref, sessionId, textHash: "" },
    { isStored: false },
  );
  return { chain: { ...chain, revision: 0 }, contents };
}

/** A call's prompt, rendered again. It is what was sent where the hash says so. */
async function shownPrompt(
  deps: SessionDeps,
  run: PromptReader,
  { chain, session, record, index }: Conversation & { readonly record: TurnRecord; readonly index: number },
): Promise<ShownPrompt | undefined> {
  const { receipt, calls } = record.explanation;
  const call = callsOf(record.sessionId, calls)[index];
  if (receipt === undefined || call === undefined) return undefined;
  const { turn: number, messages, changes } = record;
  const before = await sessionBefore(deps, run, { chain, session }, number);
  const { ledger, units } = changes?.contextFrom === undefined ? before : {};
  const turn = { number, messages, receipt, ledger, units };
  const sources = await readSources(deps, run, { session: before, turn });
  const summary = call.summary && (await storedSummary(run, { chain, session, ranges: call.summary }));
  const prompt = await renderPrompt(deps, run, { sources, call, summary });
  const sent = prompt.map((message) => {
    const { timestamp: _timestamp, ...said } = fromLangChain(message, "");
    return said;
  });
  return { messages: withNotesInMessage(sent), isExact: hashesOf(prompt).sent === call.sent };
}

/** The session as it was before a turn: how it began, with what its commands have changed since. */
async function sessionBefore(
  deps: SessionDeps,
  run: PromptReader,
  { chain, session }: Conversation,
  turn: number,
): Promise<SessionFields> {
  const entry = entryOf(chain, session.sessionId);
  if (entry === undefined) return session;
  const began = await newFields(deps, run, { chain, entry });
  const before = await run.repository.readStoredTurns(session, { from: 1, to: turn - 1 });
  return before.reduce((fields, stored) => advance(deps, fields, stored), began);
}
