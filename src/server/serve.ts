/** The server that one runs oneself: opens the application of the home folder and serves its conversations. */
import { openLocalSessions } from "#graphs/session/local.ts";
import { loadConfig, type Environment } from "#src/app/config.ts";
import { openApp } from "#src/app/open-app.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { openAuthenticator } from "./auth/authenticator.ts";
import { isLoopbackAddress } from "./auth/local-host.ts";
import { startHttpServer, type HttpServer } from "./http-server.ts";
import { createLocalConversations } from "./local-conversations.ts";
import type { ReportProblem } from "./problem.ts";

/** Where a server listens by default: on this machine only. */
export const DEFAULT_HOST = "127.0.0.1";
/** Beside the LangGraph server, whose port is 2024. */
export const DEFAULT_PORT = 2025;

/** Options of {@link openServer}. */
export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Told what is wrong with the server, which callers are not. */
  readonly report: ReportProblem;
}

/** A server that answers. */
export interface LilyServer {
  readonly url: string;
  /** Nobody has to log in; only programs of this machine are served. */
  readonly isOpen: boolean;
  /** Whose conversations it serves when nobody has to log in. */
  readonly owner: string;
  /** Lets running turns end and closes everything. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the server of the home folder.
 *
 * @throws {LilyError} `config_invalid`, or what the storage says of its files
 */
export async function openServer(
  env: Environment,
  cwd: string,
  { host, port, report }: ServerOptions,
): Promise<LilyServer> {
  const { home, config } = loadConfig(env, cwd);
  const { owner } = config;
  const peers = new WeakMap<Request, string>();
  const authenticator = openAuthenticator(env, home, { owner, peerAddress: (request) => peers.get(request) });
  if (authenticator.isOpen) requireLoopback(host);
  const { deps, storage } = await openApp(env, cwd);
  const sessions = openLocalSessions(deps, storage, { keepTurns: config.storage.keepTurns });
  const closeStorage = async (): Promise<void> => {
    await sessions.settled();
    await storage.close();
  };
  let server: HttpServer;
  try {
    server = await startHttpServer({
      host,
      port,
      peers,
      report,
      open: createLocalConversations({ sessions }),
      authenticate: (request) => authenticator.authenticate(request),
      sleep: deps.sleep,
    });
  } catch (error) {
    await closeStorage();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    url: server.url,
    isOpen: authenticator.isOpen,
    owner,
    close: () => (closing ??= server.drain().then(closeStorage)),
  };
}

function requireLoopback(host: string): void {
  if (isLoopbackAddress(host)) return;
  throw new LilyError("config_invalid", `without keys nobody is told apart, so ${host} is not listened on`, {
    next: `Make a key with lily keys new <owner>, or configure tokens (LILY_JWT_…); or leave --host at ${DEFAULT_HOST}.`,
  });
}
