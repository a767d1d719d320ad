/** Answers a command that changes nothing beside the graph: no checkpoint, no lock, no waiting for a turn. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { readsOnly, type CheckpointNote } from "#src/commands/command.ts";
import { findCommand, unknownCommand } from "#src/commands/registry.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { latestEntry, openChain } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { ReadCommand } from "#src/turns/run-turn.ts";
import type { SessionRunner } from "#src/turns/runner.ts";
import { commandContext } from "./command-context.ts";
import { commandReply } from "./handled.ts";
import { catchUp, newFields } from "./locate-session.ts";
import { memoryOf } from "./run-memory.ts";

/** Where a command reads. */
export interface ReadSources {
  readonly repository: SessionRepository;
  readonly runner: SessionRunner;
  /** Where memory is; without it there is none. */
  readonly store?: BaseStore;
  /** The newest checkpoints of a thread. */
  readonly checkpoints?: (threadId: string, limit: number) => Promise<readonly CheckpointNote[]>;
}

/** Makes the reader. */
export function createReadCommand(deps: SessionDeps, sources: ReadSources): ReadCommand {
  const { repository, runner, store, checkpoints } = sources;
  return async ({ owner, sessionKey, deliveryId, name, args }) => {
    const stored = await repository.readChain({ owner, sessionKey });
    const chain = stored ?? unopened(deps, { owner, sessionKey, deliveryId });
    const state = stored === undefined ? undefined : await runner.readState(chain.latest);
    const known = state?.session ?? (await newFields(deps, chain, latestEntry(chain)));
    const { session } = await catchUp(deps, repository, known);
    const command = findCommand(name);
    const context = commandContext(deps, {
      chain,
      session,
      repository,
      verdict: state?.verdict ?? null,
      memory: store === undefined ? undefined : memoryOf(deps, store, { session }),
      checkpoints: checkpoints && ((limit) => checkpoints(session.sessionId, limit)),
    });
    const envelope =
      command?.kind === "plain" && readsOnly(command, args)
        ? (await command.run(args, context)).envelope
        : unknownCommand(name);
    return commandReply(envelope, { sessionId: session.sessionId, deliveryId });
  };
}

/** The chain as it would begin with the first message; reading never stores it. */
function unopened(deps: SessionDeps, ref: { owner: string; sessionKey: string; deliveryId: string }) {
  const sessionId = deriveUuid("unopened", ref.owner, ref.sessionKey);
  return openChain({ ...ref, sessionId, at: toInstant(deps.clock.now()), textHash: "" });
}
