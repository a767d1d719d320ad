/** Property: whatever is done to a store, it answers as LangGraph's `InMemoryStore` does. */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  InMemoryStore,
  type BaseStore,
  type Item,
  type MatchCondition,
  type Operation,
  type PutOperation,
} from "@langchain/langgraph-checkpoint";

/**
 * The reference without the one difference that matters here: it keeps a namespace that holds nothing. So each batch is
 * read from a fresh one, into which what there is was put in its order.
 */
class Reference {
  readonly #namespaces = new Map<string, Map<string, PutOperation>>();

  async run(operations: readonly Operation[]): Promise<unknown[]> {
    const store = new InMemoryStore();
    for (const items of this.#namespaces.values()) for (const put of items.values()) await store.batch([put]);
    const results: unknown[] = [];
    for (const operation of operations)
      results.push("value" in operation ? null : shown((await store.batch([operation]))[0]));
    const changes = operations.filter((operation) => "value" in operation);
    const last = new Map(changes.map((change) => [JSON.stringify([change.namespace, change.key]), change]));
    for (const change of last.values()) this.#change(change);
    return results;
  }

  #change(change: PutOperation): void {
    const id = JSON.stringify(change.namespace);
    const items = this.#namespaces.get(id) ?? new Map<string, PutOperation>();
    if (change.value === null) items.delete(change.key);
    else items.set(change.key, change);
    if (items.size === 0) this.#namespaces.delete(id);
    else this.#namespaces.set(id, items);
  }
}

// Few labels and keys, so that operations meet; lower case, for which InMemoryStore's order (localeCompare) is ours.
const label = fc.constantFrom("a", "ab", "b", "b1", "c-d");
const namespace = fc.array(label, { minLength: 1, maxLength: 3 });
const path = fc.array(fc.oneof(label, fc.constant("*")), { minLength: 1, maxLength: 3 });
const key = fc.constantFrom("k1", "k2", "k3", "K1", "");

const primitive = fc.oneof(
  fc.constantFrom<string | number | boolean | null>(
    "",
    "1",
    "x",
    "a\u0000b",
    "é",
    '"',
    true,
    false,
    null,
    0,
    1,
    1.5,
    -2,
    1e21,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed()),
);
const field = fc.constantFrom("f", "g", "a.b", 'q"', "\\", "\u0001");
// No list of one: upstream compares [5] as the number 5. No object without prototype: there it throws.
const plain = { noNullPrototype: true };
const nested = fc.oneof(fc.array(primitive, { minLength: 2 }), fc.record({ f: primitive }, plain));
const value = fc.dictionary(field, fc.oneof(primitive, nested), plain);

const operator = fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte");
const condition = fc.oneof(primitive, fc.dictionary(operator, primitive, { ...plain, minKeys: 1 }));
const filter = fc.dictionary(field, condition, { ...plain, maxKeys: 2 });
const page = { limit: fc.integer({ min: 0, max: 6 }), offset: fc.integer({ min: 0, max: 4 }) };

const put = fc.record({ namespace, key, value });
const remove = fc.record({ namespace, key, value: fc.constant(null) });
const get = fc.record({ namespace, key });
const search = fc.record({
  namespacePrefix: fc.oneof(namespace, fc.constant<string[]>([])),
  filter,
  ...page,
});
const matchType = fc.constantFrom<MatchCondition["matchType"]>("prefix", "suffix");
const matchConditions = fc.array(fc.record({ matchType, path }), { maxLength: 2 });
const list = fc.record({ matchConditions, ...page });
const cutList = fc.record({ matchConditions, maxDepth: fc.integer({ min: 1, max: 3 }), ...page });
const operation = fc.oneof({ weight: 5, arbitrary: put }, remove, get, search, list, cutList);
const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 25,
});

/** Runs the property against fresh stores of `makeStore`. */
export function describeParity(
  makeStore: () => { readonly store: BaseStore; close?(): void },
  numRuns: number,
): void {
  it("answers every sequence of batches as LangGraph's InMemoryStore does", async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (sequence) => {
        const { store, close } = makeStore();
        const reference = new Reference();
        for (const operations of [...sequence, EVERYTHING]) {
          const results: unknown[] = await store.batch([...operations]);
          expect(results.map(shown)).toEqual(await reference.run(operations));
        }
        close?.();
      }),
      { numRuns },
    );
  });
}

const EVERYTHING: readonly Operation[] = [
  { namespacePrefix: [], limit: 1000 },
  { matchConditions: [], limit: 1000, offset: 0 },
];

/** What has to agree: everything but the times. */
function shown(result: unknown): unknown {
  if (Array.isArray(result)) return result.map((entry: unknown) => shown(entry));
  if (!isItem(result)) return result ?? null;
  return structuredClone({ namespace: result.namespace, key: result.key, value: result.value });
}

function isItem(entry: unknown): entry is Item {
  return typeof entry === "object" && entry !== null && "value" in entry;
}
