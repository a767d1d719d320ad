/** Opens everything that answers messages. Slow to import: the terminal shows its prompt first. */
import { join } from "node:path";
import { openApp } from "#src/app/open-app.ts";
import type { Environment } from "#src/app/config.ts";
import { toolsEnvelope } from "#src/commands/catalog/tools.ts";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import type { Envelope } from "#src/kernel/envelope.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { VerifyReport } from "#src/sessions/verify.ts";
import type { Approval } from "#src/tools/approval.ts";
import type { ApprovalAnswer } from "#src/turns/answer-approval.ts";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { verifyStore } from "#src/upkeep/conversations.ts";
import { commandFiles } from "./command-files.ts";
import { createInputHistory, historyFile, typedLines } from "./input/history-file.ts";
import type { LineInput } from "./input/line-input.ts";
import { openLocalSessions } from "#graphs/session/local.ts";
import { toolsOfNone } from "#graphs/session/offered-tools.ts";

/** What a terminal needs of the application. */
export interface Engine {
  readonly owner: string;
  /** Session key of the terminal when none is given. */
  readonly defaultKey: string;
  readonly timeZone: string;
  /** What the person at the terminal is told, once. */
  readonly notice: string | undefined;
  readonly repository: SessionRepository;
  /** Verifies everything that is stored, of every owner. */
  verifyAll(): Promise<VerifyReport>;
  /** The tools that a conversation would have which began now. */
  tools(): Promise<Envelope>;
  /** Milliseconds since the epoch, by the application's clock. */
  now(): number;
  /** Takes one message of the owner to its reply. */
  send(request: Omit<TurnRequest, "owner">): Promise<TurnReply>;
  /** Goes on with a turn of the owner that waits for a decision on a call of a tool. */
  approve(answer: Omit<ApprovalAnswer, "owner">): Promise<TurnReply>;
  /** The call of a key that waits for a decision. */
  openApproval(sessionKey: string): Promise<Approval | undefined>;
  /** The message of a key that a program which ended has left unanswered. */
  unanswered(sessionKey: string): Promise<UnansweredMessage | undefined>;
  /** Waits for upkeep and closes the files. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the application of the home folder.
 *
 * @param input the terminal that is open, where there is one
 * @throws {LilyError} `config_invalid`, or what the storage says of its files
 */
export async function openEngine(
  env: Environment,
  cwd: string,
  input?: Pick<LineInput, "forgetSaying">,
): Promise<Engine> {
  const app = await openApp(env, cwd, { mayOnlyRead: true });
  const { home, config, deps, storage, notice } = app;
  const sessions = openLocalSessions(
    { ...deps, files: commandFiles({ folder: cwd, kept: join(home, "exports") }) },
    storage,
    {
      keepTurns: config.storage.keepTurns,
      erasing: { typed: typedLines(config.owner, createInputHistory(historyFile(home)), input) },
    },
  );
  const { owner, defaultKey } = config;
  let closing: Promise<void> | undefined;
  return {
    owner,
    defaultKey,
    notice,
    get timeZone() {
      return deps.policies.base.timeZone;
    },
    repository: sessions.repository,
    verifyAll: () => verifyStore(storage.store),
    tools: async () => toolsEnvelope(await (await toolsOfNone(deps)).beside()),
    now: () => deps.clock.now(),
    send: (request) => sessions.send({ ...request, owner }),
    approve: (answer) => sessions.approve({ ...answer, owner }),
    openApproval: async (sessionKey) => (await sessions.openApproval({ owner, sessionKey }))?.approval,
    unanswered: (sessionKey) => sessions.unanswered({ owner, sessionKey }),
    close: () => (closing ??= sessions.settled().then(() => app.close())),
  };
}
