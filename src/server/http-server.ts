/** The routes on a port: listens, and ends so that no answer that is being written is lost. */
import { createServer, type Server } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import type { Sleep } from "#src/models/sleep.ts";
import { answerClientError } from "./client-error.ts";
import { createHttpApp, DEFAULT_LIMITS, type HttpAppOptions } from "./http-app.ts";
import { problemOf, problemResponse } from "./problem.ts";
import { createRunningTurns, type RunningTurns } from "./running-turns.ts";

/** Options of {@link startHttpServer}. */
export interface HttpServerOptions extends Omit<HttpAppOptions, "isDraining" | "turns"> {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly sleep: Sleep;
  /** Longest wait for running turns before they are stopped; 30 s by default. */
  readonly drainMs?: number;
  /** Filled with the address that each request comes from. */
  readonly peers?: WeakMap<Request, string>;
}

/** A server that listens. */
export interface HttpServer {
  /** Without the prefix of the routes. */
  readonly url: string;
  /**
   * Takes no new requests, waits for the turns that run, stops those that take too long, which keeps what there is of
   * their answers, and closes all connections. Idempotent.
   */
  drain(): Promise<void>;
}

const DRAIN_MS = 30_000;
/** Longest wait for stopped turns to be committed. */
const STOP_MS = 10_000;
/** Longest wait for the last bytes to be taken. */
const FLUSH_MS = 2000;

/** Starts to listen. @throws {LilyError} `config_invalid` when it cannot */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const turns = createRunningTurns(options.limits?.turnsPerOwner ?? DEFAULT_LIMITS.turnsPerOwner);
  let draining: Promise<void> | undefined;
  const isDraining = () => draining !== undefined;
  const app = createHttpApp({ ...options, turns, isDraining });
  const report = options.report ?? (() => undefined);
  const listener = getRequestListener(
    (request, bindings) => {
      notePeer(request, bindings, options.peers);
      return app.fetch(request, bindings);
    },
    // Requests that HTTP allows and URLs do not, such as one without a host.
    {
      overrideGlobalObjects: false,
      errorHandler: (error) => problemResponse(problemOf(unreadable(error), report)),
    },
  );
  const server = createServer((request, response) => {
    // A connection that is done with would be kept, and the server with it.
    response.once("finish", () => isDraining() && setImmediate(() => server.closeIdleConnections()));
    void listener(request, response);
  });
  server.on("clientError", answerClientError);
  await listen(server, options);
  return {
    url: urlOf(server),
    drain: () => (draining ??= drain(server, turns, options)),
  };
}

async function drain(
  server: Server,
  turns: RunningTurns,
  { sleep, drainMs = DRAIN_MS }: HttpServerOptions,
): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  if (!(await isWithin(turns.idle(), drainMs, sleep))) {
    turns.stopAll();
    await isWithin(turns.idle(), STOP_MS, sleep);
  }
  await isWithin(closed, FLUSH_MS, sleep);
  server.closeAllConnections();
  await closed;
}

async function isWithin(done: Promise<void>, ms: number, sleep: Sleep): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      done.then(() => true),
      // Rejects when it is not needed any more.
      sleep(ms, timer.signal).then(
        () => false,
        () => true,
      ),
    ]);
  } finally {
    timer.abort();
  }
}

function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function cannotListen(error: unknown, host: string, port: number): LilyError {
  return new LilyError("config_invalid", `cannot listen on ${host} port ${port}: ${errorMessage(error)}`, {
    next: "Choose another with --host and --port; port 0 takes a free one.",
    cause: error,
  });
}

function urlOf(server: Server): string {
  const address = server.address();
  if (typeof address !== "object" || address === null) return "";
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

function notePeer(request: Request, bindings: unknown, peers: WeakMap<Request, string> | undefined): void {
  const { incoming } = bindings as HttpBindings;
  const address = incoming.socket.remoteAddress;
  if (address !== undefined) peers?.set(request, address);
}

function unreadable(error: unknown): LilyError {
  return new LilyError("request_invalid", `the request cannot be read: ${errorMessage(error)}`, {
    next: "Send a request with a valid path and Host header.",
  });
}
