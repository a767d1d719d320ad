/** Which namespaces of the Store hold one person's data, and no other's. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { encodeLabel } from "#src/kernel/namespace-label.ts";
import { isMemoryOf } from "#memory/namespaces.ts";

const PAGE = 500;

/** Whether everything in the namespace is of `owner`. Compared label by label: names may begin alike. */
function isNamespaceOf(owner: string, namespace: readonly string[]): boolean {
  const [root, second] = namespace;
  return root === "memory" ? isMemoryOf(owner, namespace) : second === encodeLabel(owner);
}

/** All namespaces of `owner`, whatever is kept in them. */
export async function namespacesOf(store: BaseStore, owner: string): Promise<string[][]> {
  const found: string[][] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.listNamespaces({ limit: PAGE, offset });
    found.push(...page.filter((namespace) => isNamespaceOf(owner, namespace)));
    if (page.length < PAGE) return found;
  }
}
