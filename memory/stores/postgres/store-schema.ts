/** The tables of the store in PostgreSQL, and the steps that bring older ones there. */
import { escapeIdentifier, type ClientBase, type Pool } from "pg";
import { LilyError } from "#src/kernel/errors.ts";
import { inTransaction } from "./transactions.ts";

/** Names of tables, quoted, with their schema. */
export interface StoreTables {
  /** The schema itself, quoted. */
  readonly schema: string;
  readonly versions: string;
  readonly namespaces: string;
  readonly items: string;
}

/** The tables of the store in `schema`. */
export function storeTables(schema: string): StoreTables {
  const quoted = escapeIdentifier(schema);
  return {
    schema: quoted,
    versions: `${quoted}.lily_store_versions`,
    namespaces: `${quoted}.lily_namespaces`,
    items: `${quoted}.lily_items`,
  };
}

// `path` is the namespace, each label ended by ".", in byte order, so that a prefix of labels is a range of its index.
// Items refer to it by number: a namespace is often longer than the value. Numbers grow, so they are the order in which
// namespaces and items were first put. `value` is the JSON as text: jsonb refuses NUL and forgets the order of members.
// `terms` are the words by which the item is found, NULL when it is not indexed; `index_fields` says where they are.
const MIGRATIONS: readonly ((tables: StoreTables) => string)[] = [
  ({ namespaces, items }) => `
    CREATE TABLE ${namespaces} (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      path text COLLATE "C" NOT NULL UNIQUE
    );
    CREATE TABLE ${items} (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      namespace_id bigint NOT NULL REFERENCES ${namespaces} (id),
      key text COLLATE "C" NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      index_fields text,
      terms text[],
      value text NOT NULL
    );
    CREATE UNIQUE INDEX lily_items_by_key ON ${items} (namespace_id, key);
    CREATE INDEX lily_items_in_order ON ${items} (namespace_id, id);
    CREATE INDEX lily_items_by_term ON ${items} USING gin (terms);`,
  // Of facts, items of which `text` alone is indexed: when each was changed last, what it is about, and its state, or the
  // instant at which it expires. `newness` is NULL for everything else. A group may be longer than an entry of an index.
  ({ items }) => `
    ALTER TABLE ${items}
      ADD COLUMN newness text COLLATE "C", ADD COLUMN conflict_group text, ADD COLUMN state text COLLATE "C";
    UPDATE ${items} SET
      newness = coalesce(value::json ->> 'updated_at', ''),
      conflict_group = (value::json -> 'conflict_group')::text,
      state = CASE
        WHEN value::json ->> 'id' IS DISTINCT FROM key THEN 'unreadable'
        WHEN (value::json -> 'schema_version')::text IS DISTINCT FROM '1' THEN 'unreadable'
        WHEN (value::json -> 'superseded_by')::text IS DISTINCT FROM 'null' THEN 'superseded'
        WHEN (value::json -> 'archived')::text IS DISTINCT FROM 'false' THEN 'archived'
        ELSE value::json ->> 'expires_at' END
    WHERE index_fields = '["text"]' AND strpos(value, '\\u0000') = 0;
    CREATE INDEX lily_facts_by_age ON ${items} (namespace_id, newness DESC, key) WHERE newness IS NOT NULL;
    CREATE INDEX lily_facts_by_group ON ${items} (namespace_id, md5(conflict_group)) WHERE newness IS NOT NULL;`,
];

// "Lily": nobody else who locks by numbers should have chosen it.
const SETUP_LOCK = 0x4c69_6c79;

/** Runs `work` in a transaction, alone among all programs that set up the same database. */
export function inSetup<T>(pool: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> {
  return inTransaction(pool, "write", async (client) => {
    await client.query("SELECT pg_advisory_xact_lock($1)", [SETUP_LOCK]);
    return work(client);
  });
}

/**
 * Makes the schema and the tables of the store, or brings them up to date. Call it {@link inSetup}.
 *
 * @throws {LilyError} `storage_newer` when a newer program made them; then nothing is changed
 */
export async function setUpStore(client: ClientBase, schema: string): Promise<void> {
  const tables = storeTables(schema);
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${tables.schema}`);
  await client.query(`CREATE TABLE IF NOT EXISTS ${tables.versions} (version integer PRIMARY KEY)`);
  const { rows } = await client.query<{ version: number }>(
    `SELECT coalesce(max(version), 0) AS version FROM ${tables.versions}`,
  );
  const version = rows[0]?.version ?? 0;
  if (version > MIGRATIONS.length) throw newerStore(version);
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < version) continue;
    await client.query(migration(tables));
    await client.query(`INSERT INTO ${tables.versions} (version) VALUES ($1)`, [index + 1]);
  }
}

function newerStore(version: number): LilyError {
  const versions = `version ${version}; this program knows ${MIGRATIONS.length}`;
  return new LilyError("storage_newer", `the store was written by a newer program (${versions})`, {
    next: "The tables are left as they are; update the program.",
  });
}
