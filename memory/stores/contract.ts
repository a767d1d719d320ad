/** The contract of a LangGraph store: what every one we use has to do, run by the tests of each. */
import { describe } from "vitest";
import { describeFilters } from "./contract/filters.ts";
import { describeItems } from "./contract/items.ts";
import { describeNamespaces } from "./contract/namespaces.ts";
import { describeSearch } from "./contract/search.ts";
import { describeTextSearch } from "./contract/text-search.ts";
import type { MakeStore, StoreTraits } from "./contract/traits.ts";

export type { MakeStore, StoreTraits } from "./contract/traits.ts";

/** Runs the contract against fresh stores of `makeStore`; `traits` states where the store is known to differ. */
export function describeStoreContract(name: string, makeStore: MakeStore, traits: StoreTraits): void {
  describe(`store contract: ${name}`, () => {
    describeItems(makeStore, traits);
    describeSearch(makeStore, traits);
    describeFilters(makeStore, traits);
    describeTextSearch(makeStore, traits);
    describeNamespaces(makeStore, traits);
  });
}
