/** Answers a command that changes nothing beside the graph: no checkpoint, no lock, no waiting for a turn. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { CommandErasing } from "#src/commands/command-erasing.ts";
import { readsOnly, runPlain, type CommandContext } from "#src/commands/command.ts";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import { findCommand, unknownCommand } from "#src/commands/registry.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { entryOf, latestEntry } from "#src/sessions/chain.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { createBlobStore } from "#src/storage/blob-store.ts";
import { withContents } from "#src/agents/session-agents.ts";
import type { ReadCommand } from "#src/turns/run-turn.ts";
import type { SessionRunner } from "#src/turns/runner.ts";
import { commandContext, lastVerdict } from "./command-context.ts";
import { commandReply } from "./handled.ts";
import { beginChain, catchUp, newFields } from "./locate-session.ts";
import { agentsOf } from "./run-agents.ts";
import { toolsOf } from "./offered-tools.ts";
import { evidenceOf } from "./run-evidence.ts";
import { promptOf } from "./shown-prompt.ts";
import { memoryOf } from "./run-memory.ts";

/** Where a command reads. */
export interface ReadSources {
  readonly repository: SessionRepository;
  readonly runner: SessionRunner;
  /** Where memory is; without it there is none. */
  readonly store?: BaseStore;
  /** What would be erased of an owner; absent where nothing can be erased everywhere. */
  readonly erasing?: (owner: string) => CommandErasing;
  /** The message of a key that a program which ended has left unanswered. */
  readonly unanswered?: (ref: KeyRef) => Promise<UnansweredMessage | undefined>;
}

export function createReadCommand(deps: SessionDeps, sources: ReadSources): ReadCommand {
  const contextOf = createReadContext(deps, sources);
  return async ({ owner, sessionKey, deliveryId, name, args }) => {
    const context = await contextOf({ owner, sessionKey }, deliveryId);
    const command = findCommand(name);
    const envelope =
      command?.kind === "plain" && readsOnly(command, args)
        ? (await runPlain(command, args, context)).envelope
        : unknownCommand(name);
    const isOpened = context.chain.revision > 0;
    return commandReply(envelope, { sessionId: isOpened ? context.session.sessionId : "", deliveryId });
  };
}

/**
 * Makes the context of a command that is given on a key, as it stands; nothing is opened by it.
 *
 * @returns of the latest session, unless another one of the key is named
 */
export function createReadContext(
  deps: SessionDeps,
  sources: ReadSources,
): (ref: KeyRef, deliveryId: string, sessionId?: string) => Promise<CommandContext> {
  const { repository, runner, store, erasing, unanswered } = sources;
  return async ({ owner, sessionKey }, deliveryId, sessionId) => {
    const stored = await repository.readChain({ owner, sessionKey });
    const { chain, contents } =
      stored === undefined
        ? await unopened(deps, { owner, sessionKey, deliveryId })
        : { chain: stored, contents: [] };
    const blobs = withContents(contents, store && createBlobStore(store));
    const entry = entryOf(chain, sessionId ?? chain.latest) ?? latestEntry(chain);
    const checkpoint = stored === undefined ? undefined : await runner.readSession(entry.sessionId);
    const known = checkpoint ?? (await newFields(deps, { repository, blobs }, { chain, entry }));
    const { session } = await catchUp(deps, { repository, blobs }, known);
    return commandContext(deps, {
      chain,
      session,
      repository,
      agents: agentsOf(deps, blobs, session),
      tools: toolsOf(deps, blobs, session),
      verdict: await lastVerdict(repository, session),
      memory: store === undefined ? undefined : memoryOf(deps, store, { session }),
      evidence: store === undefined ? undefined : evidenceOf(deps, store),
      promptOf:
        store === undefined
          ? undefined
          : promptOf(deps, { store, repository, blobs: createBlobStore(store) }, { chain, session }),
      ...(erasing === undefined ? {} : { erasing: erasing(owner) }),
      unanswered: unanswered && (() => unanswered({ owner, sessionKey })),
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
