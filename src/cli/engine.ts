/** Opens everything that answers messages. Slow to import: the terminal shows its prompt first. */
import { join } from "node:path";
import { openApp } from "#src/app/open-app.ts";
import { toolsEnvelope } from "#src/commands/catalog/tools.ts";
import type { Envelope } from "#src/kernel/envelope.ts";
import type { ApprovalAnswer } from "#src/turns/answer-approval.ts";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import { verifyStore } from "#src/upkeep/conversations.ts";
import { commandFiles } from "./command-files.ts";
import type { CliContext } from "./context.ts";
import { typedLines } from "./input/history-file.ts";
import type { LineInput } from "./input/line-input.ts";
import { openLocalSessions } from "#graphs/session/local.ts";
import { toolsOfNone } from "#graphs/session/tools.ts";

/** What a terminal needs of the application. */
export type Engine = Awaited<ReturnType<typeof openEngine>>;

/**
 * Opens the application of the home folder, for its configured owner.
 *
 * @param input the terminal that is open, where there is one
 * @throws {LilyError} `config_invalid`, or what the storage says of its files
 */
export async function openEngine({ env, cwd, key }: CliContext, input?: Pick<LineInput, "forgetSaying">) {
  const app = await openApp(env, cwd, { mayOnlyRead: true });
  const { home, deps, storage } = app;
  const { owner, defaultKey, storage: kept } = app.config;
  const sessions = openLocalSessions(
    { ...deps, files: commandFiles({ folder: cwd, kept: join(home, "exports") }) },
    storage,
    {
      keepTurns: kept.keepTurns,
      erasing: { typed: typedLines(owner, home, input) },
    },
  );
  const sessionKey = key ?? defaultKey;
  let closing: Promise<void> | undefined;
  return {
    owner,
    /** Of the conversation that this terminal is in. */
    sessionKey,
    /** What the person at the terminal is told, once. */
    notice: app.notice,
    get timeZone(): string {
      return deps.policies.base.timeZone;
    },
    repository: sessions.repository,
    /** Verifies everything that is stored, of every owner. */
    verifyAll: () => verifyStore(storage.store),
    /** The tools that a conversation would have which began now. */
    tools: async (): Promise<Envelope> => toolsEnvelope(await (await toolsOfNone(deps)).beside()),
    /** Milliseconds since the epoch, by the application's clock. */
    now: () => deps.clock.now(),
    /** Takes one message of the owner to its reply, by default in this terminal's conversation. */
    send: (request: Omit<TurnRequest, "owner" | "sessionKey"> & { readonly sessionKey?: string }) =>
      sessions.send({ sessionKey, ...request, owner }),
    /** Goes on with a turn that waits for a decision on a call of a tool. */
    approve: (answer: Omit<ApprovalAnswer, "owner" | "sessionKey">) =>
      sessions.approve({ ...answer, owner, sessionKey }),
    /** The call that waits for a decision. */
    openApproval: async () => (await sessions.openApproval({ owner, sessionKey }))?.approval,
    /** The message that a program which ended has left unanswered. */
    unanswered: () => sessions.unanswered({ owner, sessionKey }),
    /** Waits for upkeep and closes the files. Idempotent. */
    close: () => (closing ??= sessions.settled().then(() => app.close())),
  };
}
