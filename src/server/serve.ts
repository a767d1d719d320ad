/** The server that one runs oneself: opens the application of the home folder and serves its conversations. */
import { getConnInfo } from "@hono/node-server/conninfo";
import { openLocalSessions } from "#graphs/session/local.ts";
import { type Environment, loadConfig } from "#src/app/config.ts";
import { openApp } from "#src/app/open-app.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { openAuthenticator } from "./auth/authenticator.ts";
import { isLoopbackAddress } from "./auth/open-mode.ts";
import { startHttpServer } from "./http-server.ts";
import type { ReportProblem } from "./problem.ts";

/** Where a server listens by default: on this machine only. */
export const DEFAULT_HOST = "127.0.0.1";
/** Beside the LangGraph server, whose port is 2024. */
export const DEFAULT_PORT = 2025;

export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Told what is wrong with the server, which callers are not. */
  readonly report: ReportProblem;
}

/** A server that answers. */
export type LilyServer = Awaited<ReturnType<typeof openServer>>;

/**
 * Opens the server of the home folder.
 *
 * @throws {LilyError} `config_invalid`, or what the storage says of its files
 */
export async function openServer(env: Environment, cwd: string, { host, port, report }: ServerOptions) {
  const { home, config } = loadConfig(env, cwd);
  const { owner } = config;
  const authenticator = openAuthenticator(env, home, { owner });
  const { isOpen } = authenticator;
  if (isOpen && !isLoopbackAddress(host))
    throw new LilyError(
      "config_invalid",
      `without keys nobody is told apart, so ${host} is not listened on`,
      {
        next: `Make a key with lily keys new <owner>, or configure tokens (LILY_JWT_…); or leave --host at ${DEFAULT_HOST}.`,
      },
    );
  const app = await openApp(env, cwd);
  const { deps, storage, notice } = app;
  if (notice !== undefined) report(notice);
  const sessions = openLocalSessions(deps, storage, { keepTurns: config.storage.keepTurns });
  const closeStorage = async (): Promise<void> => {
    await sessions.settled();
    await app.close();
  };
  // Many share a server with a login; without one it is one's own machine, which limits nobody.
  const {
    bodyBytes,
    corsOrigins,
    requestsPerMinute = isOpen ? 0 : 1200,
    turnsAtOnce = isOpen ? 0 : 64,
  } = config.server;
  const server = await startHttpServer({
    host,
    port,
    report,
    sessions,
    authenticate: (context) =>
      authenticator.authenticate(context.req.raw, getConnInfo(context).remote.address),
    limits: { bodyBytes, requestsPerMinute, turnsAtOnce },
    corsOrigins,
  }).catch(async (error: unknown) => {
    await closeStorage();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    url: server.url,
    /** Nobody has to log in; only programs of this machine are served. */
    isOpen,
    /** Whose conversations it serves when nobody has to log in. */
    owner,
    /** Lets running turns end and closes everything. Idempotent. */
    close: () => (closing ??= server.drain().then(closeStorage)),
  };
}
