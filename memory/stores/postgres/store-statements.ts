/** The SQL of the store. Nothing that a caller gives becomes part of a statement, except the quoted schema. */
import { storeTables } from "./store-schema.ts";

/** An item as it is read. */
export interface ItemRow {
  /** The place in the order of all items: first the namespace's, then the item's own. PostgreSQL's bigints are text. */
  readonly namespaceId: string;
  readonly id: string;
  readonly path: string;
  readonly key: string;
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** JSON list of field paths; null when the item is not indexed. */
  readonly indexFields: string | null;
}

/** Everything at and below a namespace: `from` included, `to` not; an empty `to` is no limit. */
export interface PathRange {
  readonly from: string;
  readonly to: string;
}

/** The range of paths that begin with the labels of `path`, and no others: `/` is the character after `.`. */
export function rangeOf(path: string): PathRange {
  return path === "" ? { from: "", to: "" } : { from: path, to: `${path.slice(0, -1)}/` };
}

const ITEM = `i.namespace_id AS "namespaceId", i.id, n.path, i.key, i.value, i.index_fields AS "indexFields",
  i.created_at::float8 AS "createdAt", i.updated_at::float8 AS "updatedAt"`;

/** Every statement of the store in `schema`. */
export function storeStatements(schema: string) {
  const { namespaces, items } = storeTables(schema);
  const read = `SELECT ${ITEM} FROM ${items} i JOIN ${namespaces} n ON n.id = i.namespace_id`;
  const inRange = "n.path >= $1 AND (n.path < $2 OR $2 = '')";
  const inOrder = "ORDER BY i.namespace_id, i.id";
  return {
    /** path, key */
    get: `${read} WHERE n.path = $1 AND i.key = $2`,
    /** from, to, limit, offset */
    list: `${read} WHERE ${inRange} ${inOrder} LIMIT $3 OFFSET $4`,
    /** from, to, namespace and id of the last item that was read, limit */
    listAfter: `${read} WHERE ${inRange} AND (i.namespace_id, i.id) > ($3::bigint, $4::bigint) ${inOrder} LIMIT $5`,
    /** from, to, terms */
    match: `${read} WHERE ${inRange} AND i.terms && $3::text[] ${inOrder}`,
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
      INSERT INTO ${items} AS i (namespace_id, key, created_at, updated_at, index_fields, terms, value)
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

/** The statements of the store. */
export type StoreStatements = ReturnType<typeof storeStatements>;
