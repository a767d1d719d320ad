/** The traits of our own stores: no difference between them is allowed. */
import type { StoreTraits } from "./traits.ts";

export const LILY_TRAITS: StoreTraits = {
  namespaceError: { name: "LilyError", code: "namespace_invalid" },
  keepsCopies: true,
  allowsColons: true,
  refusesIllFormedIds: true,
  findsWords: true,
  refusesUnknownOperators: true,
  listsEmptyNamespaces: false,
};
