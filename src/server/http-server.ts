/** The routes on a port: listens, and ends so that no answer that is being written is lost. */
import { once } from "node:events";
import type { Server, ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createAdaptorServer } from "@hono/node-server";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { createHttpApp, type HttpAppOptions } from "./http-app.ts";
import { createRunningTurns, type RunningTurns } from "./limits.ts";

export interface HttpServerOptions extends Omit<HttpAppOptions, "isDraining" | "turns"> {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Longest wait for running turns before they are stopped; 30 s by default. */
  readonly drainMs?: number;
  /** Longest wait for stopped turns to be committed; 10 s by default. */
  readonly stopMs?: number;
  /** Node's own settings, such as the times in which a request has to be there. */
  readonly serverOptions?: ServerOptions;
}

/** A server that listens. */
export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/** Longest wait for the last bytes to be taken. */
const FLUSH_MS = 2000;

/** Starts to listen. @throws {LilyError} `config_invalid` when it cannot */
export async function startHttpServer(options: HttpServerOptions) {
  const turns = createRunningTurns(options.limits.turnsAtOnce);
  let draining: Promise<void> | undefined;
  const app = createHttpApp({ ...options, turns, isDraining: () => draining !== undefined });
  const { host, port, serverOptions = {} } = options;
  // Without a `createServer` of another kind it is one of `node:http`.
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions }) as Server;
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    throw new LilyError("config_invalid", `cannot listen on ${host} port ${port}: ${errorMessage(error)}`, {
      next: "Choose another with --host and --port; port 0 takes a free one.",
      cause: error,
    });
  }
  // On a port, and not on a pipe.
  const at = server.address() as AddressInfo;
  return {
    /** Without the prefix of the routes. */
    url: `http://${at.family === "IPv6" ? `[${at.address}]` : at.address}:${at.port}`,
    /**
     * Takes no new requests, waits for the turns that run, stops those that take too long, which keeps what there is of
     * their answers, and closes all connections. Idempotent.
     */
    drain: () => (draining ??= drain(server, turns, options)),
  };
}

async function drain(
  server: Server,
  turns: RunningTurns,
  { drainMs = 30_000, stopMs = 10_000 }: HttpServerOptions,
): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  if (!(await isWithin(turns.idle(), drainMs))) {
    turns.stopAll();
    await isWithin(turns.idle(), stopMs);
  }
  // A connection whose last answer was taken would be kept for another request.
  const closingIdle = setInterval(() => server.closeIdleConnections(), 20);
  await isWithin(closed, FLUSH_MS);
  clearInterval(closingIdle);
  server.closeAllConnections();
  await closed;
}

function isWithin(done: Promise<void>, ms: number): Promise<boolean> {
  return Promise.race([done.then(() => true), sleep(ms, false, { ref: false })]);
}
