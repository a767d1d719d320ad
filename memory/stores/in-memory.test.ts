/** LangGraph's own in-memory store under our contract: shows what the contract has in common with upstream. */
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describeStoreContract } from "./contract.ts";

describeStoreContract(
  "InMemoryStore of LangGraph",
  () => ({
    store: new InMemoryStore(),
    tick: () => new Promise((resolve) => setTimeout(resolve, 3)),
    close: () => {},
  }),
  {
    namespaceError: { name: "InvalidNamespaceError" },
    keepsCopies: false,
    allowsColons: false,
    refusesIllFormedIds: false,
    findsWords: false,
    refusesUnknownOperators: false,
    listsEmptyNamespaces: true,
  },
);
