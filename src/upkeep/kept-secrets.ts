/** The check of what is remembered: whether a fact of an earlier version holds a secret. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { maskSecrets } from "#memory/policy/find-secrets.ts";
import { createSecretlintScanner } from "#memory/policy/secret-scanner.ts";
import { shortId } from "#memory/record.ts";
import { itemsUnder } from "#src/storage/session-items.ts";
import { counted } from "#src/kernel/markdown.ts";
import { type Check, fine, someOf, warning } from "./check.ts";

const factSchema = z.object({ id: z.string(), text: z.string() });

/** Looks at each fact of every owner, also those that wait for a review. Names them by their ids, never by what they say. */
export async function checkKeptSecrets(store: BaseStore): Promise<Check> {
  const scan = createSecretlintScanner();
  const found: string[] = [];
  let facts = 0;
  for await (const { value } of itemsUnder(store, ["memory"])) {
    const fact = factSchema.safeParse(value).data;
    if (fact === undefined) continue;
    facts += 1;
    if ((await maskSecrets(fact.text, scan)) !== fact.text) found.push(shortId(fact.id));
  }
  if (found.length === 0) return fine("remembered secrets", `none in ${counted(facts, "fact")}`);
  return warning(
    "remembered secrets",
    `${counted(found.length, "fact")} ${found.length === 1 ? "holds" : "hold"} what looks like a secret, which is masked wherever it is shown: ${someOf(found)}`,
    "/forget <id> --everywhere erases one.",
  );
}
