/** The tables of the store in PostgreSQL, the steps that bring older ones there, and every statement on them. */
import { LilyError } from "#src/kernel/errors.ts";
import type { StoredItemRow } from "../durable-store.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

// `path` is the namespace, each label ended by ".", in byte order, so that a prefix of labels is a range of its index.
// Numbers grow, so they are the order in which namespaces and items were first put. `value` is the JSON as text: jsonb
// refuses NUL and forgets the order of members. `terms` are the words by which the item is found, NULL when it is not
// indexed; `index_fields` says where they are.
const CREATE = (schema: string): string => `
  CREATE TABLE ${schema}.lily_namespaces (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    path text COLLATE "C" NOT NULL UNIQUE
  );
  CREATE TABLE ${schema}.lily_items (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace_id bigint NOT NULL REFERENCES ${schema}.lily_namespaces (id),
    key text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    index_fields text,
    terms text[],
    value text NOT NULL
  );
  CREATE UNIQUE INDEX lily_items_by_key ON ${schema}.lily_items (namespace_id, key);
  CREATE INDEX lily_items_in_order ON ${schema}.lily_items (namespace_id, id);
  CREATE INDEX lily_items_by_term ON ${schema}.lily_items USING gin (terms);`;

// Version 2 kept what facts are about beside their values, with an index each. Until version 3 a turn was one text; the
// user's words and the reply to them are two now, by the same terms. `vector`, since version 5, holds 32-bit floats, the
// lowest byte first, so that no extension of the server is needed; NULL for a text that the model does not take. A trigger
// sees a vector that was made while the item was changed; a statement would not.
const BRING_UP_TO_DATE = (schema: string): string => `
  ALTER TABLE ${schema}.lily_items DROP COLUMN IF EXISTS newness, DROP COLUMN IF EXISTS conflict_group, DROP COLUMN IF EXISTS state;
  UPDATE ${schema}.lily_items SET index_fields = '["messages[0].content","messages[1:].content"]'
  WHERE index_fields = '["messages[*].content"]'
    AND namespace_id IN (SELECT id FROM ${schema}.lily_namespaces WHERE path >= 'history.' AND path < 'history/');
  CREATE TABLE ${schema}.lily_vectors (
    item_id bigint PRIMARY KEY REFERENCES ${schema}.lily_items (id) ON DELETE CASCADE,
    model text NOT NULL,
    vector bytea
  );
  CREATE FUNCTION ${schema}.lily_vectors_of_changed_item() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      DELETE FROM ${schema}.lily_vectors WHERE item_id = OLD.id;
      RETURN NULL;
    END $body$;
  CREATE TRIGGER lily_vector_of_changed_item AFTER UPDATE ON ${schema}.lily_items FOR EACH ROW
    WHEN (OLD.value <> NEW.value OR OLD.index_fields IS DISTINCT FROM NEW.index_fields)
    EXECUTE FUNCTION ${schema}.lily_vectors_of_changed_item();`;

const VERSION = 5;

/**
 * Makes the schema and the tables of the store in it, or brings them up to date. Nobody else may do so at the time.
 *
 * @throws {LilyError} `storage_newer` when a newer program made them; then nothing is changed
 */
export async function setUpStore(database: PostgresDatabase): Promise<void> {
  const { schema } = database;
  const versions = `${schema}.lily_store_versions`;
  await database.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await database.query(`CREATE TABLE IF NOT EXISTS ${versions} (version integer PRIMARY KEY)`);
  const { rows } = await database.query<{ version: number }>(
    `SELECT coalesce(max(version), 0) AS version FROM ${versions}`,
  );
  const version = rows[0]?.version ?? 0;
  if (version > VERSION) {
    const fact = `the store was written by a newer program (version ${version}; this program knows ${VERSION})`;
    throw new LilyError("storage_newer", fact, {
      next: "The tables are left as they are; update the program.",
    });
  }
  if (version === VERSION) return;
  const steps = `${version === 0 ? CREATE(schema) : ""} ${BRING_UP_TO_DATE(schema)}`;
  // Several statements in one query are one transaction.
  await database.query(`${steps} INSERT INTO ${versions} (version) VALUES (${VERSION})`);
}

/** An item as it is read. */
export interface ItemRow extends StoredItemRow {
  /** JSON list of field paths; null when the item is not indexed. */
  readonly indexFields: string | null;
  readonly id: number;
}

/** Every statement of the store in a schema, which is quoted. Nothing else that a caller gives becomes part of one. */
export function storeStatements(schema: string) {
  const namespaces = `${schema}.lily_namespaces`;
  const items = `${schema}.lily_items`;
  const vectors = `${schema}.lily_vectors`;
  const read = `SELECT n.path, i.id::float8 AS id, i.key, i.value, i.index_fields AS "indexFields",
      i.created_at::float8 AS "createdAt", i.updated_at::float8 AS "updatedAt"
    FROM ${items} i JOIN ${namespaces} n ON n.id = i.namespace_id`;
  const inRange = "n.path >= $1 AND (n.path < $2 OR $2 = '')";
  const inOrder = "ORDER BY i.namespace_id, i.id";
  return {
    /** path, key */
    get: `${read} WHERE n.path = $1 AND i.key = $2`,
    /** from, to, limit (null: all), offset */
    list: `${read} WHERE ${inRange} ${inOrder} LIMIT $3 OFFSET $4`,
    /** from, to, terms */
    match: `${read} WHERE ${inRange} AND i.terms && $3::text[] ${inOrder}`,
    /** ids */
    byIds: `${read} WHERE i.id = ANY ($1::bigint[])`,
    /** model */
    anyVector: `SELECT FROM ${vectors} WHERE model = $1 AND vector IS NOT NULL LIMIT 1`,
    /** from, to, model, bytes */
    vectors: `SELECT i.id::float8 AS id, v.vector FROM ${vectors} v JOIN ${items} i ON i.id = v.item_id
      JOIN ${namespaces} n ON n.id = i.namespace_id
      WHERE ${inRange} AND v.model = $3 AND length(v.vector) = $4`,
    /** paths of namespaces, model, bytes (null: any), limit */
    due: `SELECT i.id::float8 AS id, i.index_fields AS fields, i.value FROM ${items} i
      JOIN ${namespaces} n ON n.id = i.namespace_id
      WHERE n.path = ANY ($1::text[]) AND i.index_fields IS NOT NULL AND NOT EXISTS (SELECT FROM ${vectors} v
        WHERE v.item_id = i.id AND v.model = $2 AND coalesce(length(v.vector) = $3, true))
      ORDER BY i.id LIMIT $4`,
    /** id, value, index fields, model, vector; holds the item against a change meanwhile */
    putVector: `WITH item AS (SELECT id FROM ${items} WHERE id = $1 AND value = $2 AND index_fields = $3 FOR UPDATE)
      INSERT INTO ${vectors} (item_id, model, vector) SELECT id, $4, $5::bytea FROM item
      ON CONFLICT (item_id) DO UPDATE SET model = excluded.model, vector = excluded.vector`,
    /** from, to */
    paths: `SELECT n.path FROM ${namespaces} n WHERE ${inRange} ORDER BY n.path`,
    /** paths; keeps others from adding to these namespaces, in one order for all, so that two do not block each other */
    lockNamespaces: `SELECT FROM ${namespaces} WHERE path = ANY ($1::text[]) ORDER BY path FOR UPDATE`,
    /**
     * path, key, now, index fields, terms, value. Holds the namespace against its removal. Changes no row when another
     * transaction has just made the namespace, which the statement cannot see before it is run again.
     */
    put: `WITH found AS (SELECT id FROM ${namespaces} WHERE path = $1 FOR KEY SHARE),
      made AS (INSERT INTO ${namespaces} (path) SELECT $1 WHERE NOT EXISTS (SELECT FROM found)
        ON CONFLICT (path) DO NOTHING RETURNING id)
      INSERT INTO ${items} (namespace_id, key, created_at, updated_at, index_fields, terms, value)
      SELECT id, $2, $3::bigint, $3::bigint, $4, $5::text[], $6 FROM (TABLE found UNION ALL TABLE made) AS namespace
      ON CONFLICT (namespace_id, key) DO UPDATE SET updated_at = excluded.updated_at,
        index_fields = excluded.index_fields, terms = excluded.terms, value = excluded.value`,
    /** path, key */
    delete: `DELETE FROM ${items} i USING ${namespaces} n WHERE n.id = i.namespace_id AND n.path = $1 AND i.key = $2`,
    /** path */
    dropEmptyNamespace: `DELETE FROM ${namespaces} n
      WHERE n.path = $1 AND NOT EXISTS (SELECT FROM ${items} i WHERE i.namespace_id = n.id)`,
  };
}
