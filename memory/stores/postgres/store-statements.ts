/** The SQL of the store. Nothing that a caller gives becomes part of a statement, except the quoted schema. */
import type { StoredItemRow } from "../stored-item.ts";
import { storeTables } from "./store-schema.ts";

/** An item as it is read. */
export interface ItemRow extends StoredItemRow {
  /** The place in the order of all items: first the namespace's, then the item's own. PostgreSQL's bigints are text. */
  readonly namespaceId: string;
  readonly id: string;
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
    /** from, to, first key, key behind the last, limit, offset */
    byKey: `${read} WHERE ${inRange} AND i.key >= $3 AND i.key < $4
      ORDER BY i.namespace_id, i.key LIMIT $5 OFFSET $6`,
    /** from, to, end of the page, limit, offset, then field and JSON of each equality, and last the group */
    newest: (equalities: number, hasGroup: boolean) => `SELECT ${ITEM}, i.newness
      FROM ${namespaces} n CROSS JOIN LATERAL (
        SELECT * FROM ${items} f
        WHERE f.namespace_id = n.id AND f.newness IS NOT NULL ${factConditions(equalities, hasGroup)}
        ORDER BY f.newness DESC, f.key LIMIT $3) i
      WHERE ${inRange} ORDER BY i.newness DESC, n.path, i.key LIMIT $4 OFFSET $5`,
    /** from, to */
    countFacts: `SELECT i.newness IS NOT NULL AS "isFact", i.state, count(*)::int AS facts
      FROM ${items} i JOIN ${namespaces} n ON n.id = i.namespace_id WHERE ${inRange} GROUP BY 1, 2`,
    /** from, to, terms */
    match: `${read} WHERE ${inRange} AND i.terms && $3::text[] ${inOrder}`,
    /** from, to */
    paths: `SELECT n.path FROM ${namespaces} n WHERE ${inRange} ORDER BY n.path`,

    /** paths; keeps others from adding to these namespaces, in one order for all, so that two do not block each other */
    lockNamespaces: `SELECT FROM ${namespaces} WHERE path = ANY ($1::text[]) ORDER BY path FOR UPDATE`,
    /**
     * path, key, now, index fields, terms, value, newness, group, state. Holds the namespace against its removal. Changes no
     * row when another transaction has just made the namespace, which the statement cannot see before it is run again.
     */
    put: `WITH found AS (SELECT id FROM ${namespaces} WHERE path = $1 FOR KEY SHARE),
      made AS (INSERT INTO ${namespaces} (path) SELECT $1 WHERE NOT EXISTS (SELECT FROM found)
        ON CONFLICT (path) DO NOTHING RETURNING id)
      INSERT INTO ${items} AS i
        (namespace_id, key, created_at, updated_at, index_fields, terms, value, newness, conflict_group, state)
      SELECT id, $2, $3::bigint, $3::bigint, $4, $5::text[], $6, $7, $8, $9
      FROM (TABLE found UNION ALL TABLE made) AS namespace
      ON CONFLICT (namespace_id, key) DO UPDATE SET updated_at = excluded.updated_at,
        index_fields = excluded.index_fields, terms = excluded.terms, value = excluded.value,
        newness = excluded.newness, conflict_group = excluded.conflict_group, state = excluded.state`,
    /** path, key */
    delete: `DELETE FROM ${items} i USING ${namespaces} n WHERE n.id = i.namespace_id AND n.path = $1 AND i.key = $2`,
    /** path */
    dropEmptyNamespace: `DELETE FROM ${namespaces} n
      WHERE n.path = $1 AND NOT EXISTS (SELECT FROM ${items} i WHERE i.namespace_id = n.id)`,
  };
}

// Of JSON that is kept as text: jsonb would refuse some, and this compares what was written. Only facts are looked into.
// The planner takes an equality that it knows nothing of to leave one row in two hundred, and would rather sort them all
// than go through the newest; of a CASE it expects every second one.
function factConditions(equalities: number, hasGroup: boolean): string {
  const fields = Array.from(
    { length: equalities },
    (_, at) =>
      `AND CASE WHEN (f.value::json -> $${6 + 2 * at}::text)::text = $${7 + 2 * at}::text THEN true ELSE false END`,
  );
  const group = `$${6 + 2 * equalities}::text`;
  if (hasGroup) fields.push(`AND md5(f.conflict_group) = md5(${group}) AND f.conflict_group = ${group}`);
  return fields.join(" ");
}

/** The statements of the store. */
export type StoreStatements = ReturnType<typeof storeStatements>;
