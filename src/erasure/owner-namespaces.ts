/** Which namespaces of the Store hold one person's data, and no other's. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { encodeLabel } from "#src/kernel/namespace-label.ts";

const PAGE = 500;

/** Between owner and task in the label of a task; it stands in no label of an owner. */
const BETWEEN = "~";

/** Whether everything in the namespace is of `owner`. Compared label by label: names may begin alike. */
function isNamespaceOf(owner: string, namespace: readonly string[]): boolean {
  const label = encodeLabel(owner);
  const [root, second, third, fourth = ""] = namespace;
  if (root !== "memory") return second === label;
  if (second === "personality") return fourth === label;
  if (second === "task") return fourth === label || fourth.startsWith(`${label}${BETWEEN}`);
  return third === label;
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
