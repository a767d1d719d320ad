/** The tables of LangGraph's `PostgresSaver`, made in a transaction of ours: its own `setup` fails when two race. */
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { escapeIdentifier, type ClientBase, type Pool } from "pg";
import { setUpPutOrder } from "./put-order.ts";

/** Makes the tables in `schema`, which exists, or brings them up to date. */
export async function setUpCheckpoints(client: ClientBase, schema: string): Promise<void> {
  // Upstream asks this table for its version first. One that is missing would end the transaction.
  const versions = `${escapeIdentifier(schema)}.checkpoint_migrations`;
  await client.query(`CREATE TABLE IF NOT EXISTS ${versions} (v INTEGER PRIMARY KEY)`);
  await new PostgresSaver(poolOf(client), undefined, { schema }).setup();
  await setUpPutOrder(client, schema);
}

// `setup` takes one connection of its pool, runs its statements and gives it back; nothing else is asked of this one.
function poolOf(client: ClientBase): Pool {
  const connection = {
    query: (sql: string, values?: unknown[]) => client.query(sql, values),
    release: () => {},
  };
  const pool: unknown = { connect: () => Promise.resolve(connection) };
  return pool as Pool;
}
