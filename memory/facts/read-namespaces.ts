/** The namespaces that a read goes through: domains or tasks of an owner, in the scopes that are asked for. */
import { encodeLabel } from "#src/kernel/namespace-label.ts";
import { personalityPrefix, taskPrefix } from "../namespaces.ts";
import { PERSONALITY_DOMAINS, type Scope } from "../record.ts";
import type { FactDeps } from "./fact-deps.ts";
import { taskOf } from "./new-record.ts";
import { taskPrefixes } from "./rows.ts";
import type { ShowOptions, Who } from "./types.ts";

/** Prefixes of what `options` select, one a domain or task and scope. */
export async function namespacesOf(
  deps: FactDeps,
  who: Who,
  options: Pick<ShowOptions, "domains" | "task" | "scope">,
): Promise<string[][]> {
  const { task } = options;
  const domains = options.domains ?? (task === undefined ? PERSONALITY_DOMAINS : ["task_memory" as const]);
  const prefixes: string[][] = [];
  for (const domain of new Set(domains)) {
    if (domain !== "task_memory") prefixes.push(personalityPrefix(who.owner, domain));
    else if (task === "*") prefixes.push(...(await taskPrefixes(deps.store, who.owner)));
    else prefixes.push(taskPrefix(who.owner, taskOf(task)));
  }
  return prefixes.flatMap((prefix) => scopesOf(who, options.scope).map((scope) => [...prefix, ...scope]));
}

/** The labels of the scopes that are read; none for all of them. */
function scopesOf({ agent }: Who, scope: Scope | "*" | undefined): string[][] {
  if (scope === "*") return [[]];
  if (scope !== undefined) return [[encodeLabel(scope)]];
  return [
    [encodeLabel("global")],
    ...(agent === undefined || agent === "" ? [] : [[encodeLabel(`agent:${agent}`)]]),
  ];
}
