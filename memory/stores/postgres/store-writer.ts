/** The writing half of the store: items with their namespaces and words. Runs inside a transaction, unless it is one put. */
import { factColumns } from "../fact-columns.ts";
import { textsOf, type IndexFields } from "../index-fields.ts";
import type { Namespace } from "../namespace.ts";
import type { ItemChange } from "../operations.ts";
import { storedTerms } from "./search-terms.ts";
import type { Queryable } from "./read-context.ts";
import type { StoreStatements } from "./store-statements.ts";

/** What the changes of a batch need beside themselves. */
export interface WriteContext {
  readonly client: Queryable;
  readonly statements: StoreStatements;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What is indexed when a change does not say. */
  readonly index: (namespace: Namespace) => IndexFields;
}

/** Makes the changes in their order. An item that exists keeps its place, its number and `createdAt`. */
export async function writeChanges(context: WriteContext, changes: readonly ItemChange[]): Promise<void> {
  const { client, statements } = context;
  // Only a deletion may remove a namespace, which nobody else may be filling at that moment.
  if (changes.some((change) => change.json === null)) {
    await client.query(statements.lockNamespaces, [[...new Set(changes.map((change) => change.path))]]);
  }
  for (const change of changes) {
    if (change.json === null) await deleteItem(context, change);
    else await putItem(context, change, change.json);
  }
}

async function putItem(context: WriteContext, change: ItemChange, json: string): Promise<void> {
  const { client, statements, now } = context;
  const wanted = change.index ?? context.index(change.namespace);
  const { fields, terms } = indexOf(json, wanted);
  const fact = wanted === false ? undefined : factColumns(change.key, json, wanted);
  const columns = [fact?.newness ?? null, fact?.conflictGroup ?? null, fact?.state ?? null];
  const values = [change.path, change.key, now, fields, terms, json, ...columns];
  for (;;) {
    const { rowCount } = await client.query(statements.put, values);
    if (rowCount === 1) return;
  }
}

async function deleteItem({ client, statements }: WriteContext, { path, key }: ItemChange): Promise<void> {
  const { rowCount } = await client.query(statements.delete, [path, key]);
  if (rowCount === 1) await client.query(statements.dropEmptyNamespace, [path]);
}

function indexOf(
  json: string,
  fields: IndexFields,
): { readonly fields: string | null; readonly terms: string[] | null } {
  if (fields === false || fields.length === 0) return { fields: null, terms: null };
  const terms = storedTerms(textsOf(JSON.parse(json), fields).join("\n"));
  return terms.length === 0 ? { fields: null, terms: null } : { fields: JSON.stringify(fields), terms };
}
