/** The contract of a LangGraph store: what every one we use has to do, run by the tests of each. */
import { describe } from "vitest";
import { describeFilters } from "./contract/filters.ts";
import { describeItems } from "./contract/items.ts";
import { describeNamespaces } from "./contract/namespaces.ts";
import { describeSearch } from "./contract/search.ts";
import { describeTextSearch } from "./contract/text-search.ts";
import type { MakeStore } from "./contract/with-store.ts";

/** Runs the contract against fresh stores of `makeStore`. */
export function describeStoreContract(name: string, makeStore: MakeStore): void {
  describe(`store contract: ${name}`, () => {
    describeItems(makeStore);
    describeSearch(makeStore);
    describeFilters(makeStore);
    describeTextSearch(makeStore);
    describeNamespaces(makeStore);
  });
}
