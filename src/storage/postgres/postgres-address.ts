/** Where a PostgreSQL database is, as a person may read it: never with its password. */
import { Client, type Pool, type PoolConfig } from "pg";
import { LilyError } from "#src/kernel/errors.ts";

/**
 * `host:port/database` of what `config` leads to, with the defaults of the client for what it leaves out.
 *
 * @throws {LilyError} `config_invalid` when the address cannot be read
 */
export function addressOf(config: PoolConfig): string {
  assertReadable(config.connectionString);
  try {
    const { host, port, database = "" } = new Client(config);
    return `${host}:${port}/${database}`;
  } catch {
    // The error holds the address, and with it the password.
    throw unreadable();
  }
}

/** What a connection of its own, outside `pool`, has to be opened with. */
export function configOf(pool: Pool): PoolConfig {
  // The pool hides the password from listings; a copy by spreading would lose it.
  const { options } = pool;
  return { ...options, password: options.password, ssl: options.ssl };
}

// The client takes any text for the name of a database on some host.
function assertReadable(connectionString: string | undefined): void {
  if (connectionString === undefined) return;
  if (!/^postgres(?:ql)?:\/\//u.test(connectionString)) throw unreadable();
}

function unreadable(): LilyError {
  return new LilyError("config_invalid", "the address of the PostgreSQL database cannot be read", {
    next: "Write it as postgresql://user:password@host:5432/database.",
  });
}
