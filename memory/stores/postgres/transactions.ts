/** One connection of a pool for the length of one transaction. */
import type { ClientBase, Pool } from "pg";

/** How a transaction sees the database: one state for all its reads, or the newest committed one for each statement. */
export type TransactionMode = "snapshot" | "write";

const BEGIN: Readonly<Record<TransactionMode, string>> = {
  snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  write: "BEGIN ISOLATION LEVEL READ COMMITTED",
};

/** Runs `work` in a transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<T>(
  pool: Pool,
  mode: TransactionMode,
  work: (client: ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that ends between two statements says so by an event, which would otherwise end the process.
  const onError = (error: Error): void => void (broken = error);
  client.on("error", onError);
  try {
    await client.query(BEGIN[mode]);
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((failure: unknown) => {
      // The connection is gone, and the transaction with it; what counts is why.
      broken ??= failure as Error;
    });
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}
