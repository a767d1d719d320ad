/** LangGraph's `InMemoryStore` with the promises that a store on disk keeps: copies, JSON only, whole batches. */
import {
  InMemoryStore,
  type Item,
  type Operation,
  type OperationResults,
  type PutOperation,
} from "@langchain/langgraph-checkpoint";
import type { Clock } from "#src/kernel/clock.ts";
import { AtomicStore } from "#memory/stores/atomic-store.ts";
import { planBatch } from "#memory/stores/operations.ts";

/** Refuses a write by throwing. */
export type WriteGuard = () => void;

/** Upstream dates items by the system's clock; these are the dates by ours, by namespace and key. */
type Dates = Map<string, { readonly createdAt: number; readonly updatedAt: number }>;

interface Contents {
  readonly items: InMemoryStore;
  readonly dates: Dates;
}

/**
 * A store that lives as long as the process. Reads in a batch see the state before its writes. Search lists and does
 * not rank; labels hold no ":" and no "."; a namespace stays listed when its last item is gone (all as upstream).
 */
export class MemoryStore extends AtomicStore {
  readonly #clock: Clock;
  readonly #contents: Contents;
  readonly #guard: WriteGuard | undefined;

  /** `clock` dates the items; the rest is for {@link withGuard}. */
  constructor(
    clock: Clock,
    contents: Contents = { items: new InMemoryStore(), dates: new Map() },
    guard?: WriteGuard,
  ) {
    super();
    this.#clock = clock;
    this.#contents = contents;
    this.#guard = guard;
  }

  /** The same items behind a guard that is asked before each batch that changes something. */
  withGuard(guard: WriteGuard): MemoryStore {
    return new MemoryStore(this.#clock, this.#contents, guard);
  }

  /** Throws what {@link planBatch} and the guard throw; then nothing was changed. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    planBatch(operations);
    const results = await Promise.all(
      operations.map((operation) => (isPut(operation) ? Promise.resolve(null) : this.#read(operation))),
    );
    await this.#write(operations.filter(isPut));
    return results as OperationResults<Op>;
  }

  async #read(operation: Operation): Promise<unknown> {
    const [result] = await this.#contents.items.batch([operation]);
    const copy: unknown = structuredClone(result);
    const listsItems = "key" in operation || "namespacePrefix" in operation;
    if (listsItems) for (const item of itemsIn(copy)) setDates(item, this.#contents.dates);
    return copy;
  }

  // Without embeddings upstream's `batch` has changed everything by the time it returns its promise, so nothing comes
  // between guard and writes. One by one, because in one batch upstream confuses `["a"], "b:c"` with `["a","b"], "c"`.
  async #write(changes: readonly PutOperation[]): Promise<void> {
    if (changes.length === 0) return;
    this.#guard?.();
    const now = this.#clock.now();
    await Promise.all(changes.map((change) => this.#put(change, now)));
  }

  #put({ namespace, key, value }: PutOperation, now: number): Promise<unknown> {
    const { items, dates } = this.#contents;
    const id = idOf({ namespace, key });
    if (value === null) dates.delete(id);
    else dates.set(id, { createdAt: dates.get(id)?.createdAt ?? now, updatedAt: now });
    const copy = value === null ? null : (JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
    return items.batch([{ namespace: [...namespace], key, value: copy }]);
  }
}

function idOf({ namespace, key }: Pick<Item, "namespace" | "key">): string {
  return JSON.stringify([namespace, key]);
}

function itemsIn(result: unknown): Item[] {
  if (Array.isArray(result)) return result as Item[];
  return result === null ? [] : [result as Item];
}

function setDates(item: Item, dates: Dates): void {
  const { createdAt, updatedAt } = dates.get(idOf(item)) ?? { createdAt: 0, updatedAt: 0 };
  item.createdAt = new Date(createdAt);
  item.updatedAt = new Date(updatedAt);
}

function isPut(operation: Operation): operation is PutOperation {
  return "value" in operation;
}
