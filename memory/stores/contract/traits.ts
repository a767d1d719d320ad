/** What a store under contract is, and in which stated ways it differs from the others. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";

/** Differences between stores that the contract knows of. */
export interface StoreTraits {
  /** What is thrown for a namespace that is refused: its name, and the code where it has one. */
  readonly namespaceError: { readonly name: string; readonly code?: string };
  /** Values are copied in and out, and what is not JSON is refused. Otherwise the store holds live objects. */
  readonly keepsCopies: boolean;
  /** `:` is an ordinary character of a label, and of a key that is written in the same batch as others. */
  readonly allowsColons: boolean;
  /** Labels and keys with NUL or half of a surrogate pair are refused. */
  readonly refusesIllFormedIds: boolean;
  /** `query` finds items by their words. Otherwise it is ignored. */
  readonly findsWords: boolean;
  /** A filter with an operator that does not exist is refused. Otherwise it matches nothing. */
  readonly refusesUnknownOperators: boolean;
  /** A namespace is still listed when its last item is gone. */
  readonly listsEmptyNamespaces: boolean;
}

/** A fresh, empty store. */
export interface StoreFixture {
  readonly store: BaseStore;
  /** Lets at least a millisecond pass on the store's clock. */
  tick(): void | Promise<void>;
  close(): void | Promise<void>;
}

/** Makes a fresh store for each test. */
export type MakeStore = () => StoreFixture;
