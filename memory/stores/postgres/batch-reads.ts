/** The reads of a batch as values: what the shared plan would ask an engine that answers at once. */
import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import type { NamespaceQuery } from "../namespace-list.ts";
import type { BatchPlan, ItemRef, SearchQuery, StoreEngine } from "../operations.ts";

/** One operation of a batch. A change reads nothing and answers null. */
export type BatchRead =
  | { readonly kind: "none" }
  | { readonly kind: "get"; readonly ref: ItemRef }
  | { readonly kind: "search"; readonly query: SearchQuery }
  | { readonly kind: "listNamespaces"; readonly query: NamespaceQuery };

/** The reads of `plan`, one an operation, in the order of the operations. */
export function readsOf(plan: BatchPlan): BatchRead[] {
  return plan.reads.map((read) => {
    const recorder = new Recorder();
    read(recorder);
    return recorder.read;
  });
}

class Recorder implements StoreEngine {
  read: BatchRead = { kind: "none" };

  get(ref: ItemRef): Item | null {
    this.read = { kind: "get", ref };
    return null;
  }

  search(query: SearchQuery): SearchItem[] {
    this.read = { kind: "search", query };
    return [];
  }

  listNamespaces(query: NamespaceQuery): string[][] {
    this.read = { kind: "listNamespaces", query };
    return [];
  }

  change(): void {}
}
