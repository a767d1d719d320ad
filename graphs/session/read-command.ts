/** Answers a command that changes nothing beside the graph: no checkpoint, no lock, no waiting for a turn. */
import { isReadOnly } from "#src/commands/command.ts";
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

/** Makes the reader. */
export function createReadCommand(
  deps: SessionDeps,
  sources: { readonly repository: SessionRepository; readonly runner: SessionRunner },
): ReadCommand {
  const { repository, runner } = sources;
  return async ({ owner, sessionKey, deliveryId, name, args }) => {
    const stored = await repository.readChain({ owner, sessionKey });
    const chain = stored ?? unopened(deps, { owner, sessionKey, deliveryId });
    const state = stored === undefined ? undefined : await runner.readState(chain.latest);
    const known = state?.session ?? (await newFields(deps, chain, latestEntry(chain)));
    const { session } = await catchUp(deps, repository, known);
    const command = findCommand(name);
    const context = commandContext(deps, { chain, session, repository, verdict: state?.verdict ?? null });
    const envelope =
      command !== undefined && isReadOnly(command)
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
