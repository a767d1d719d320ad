/** What every part of the fact store works with. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";

/** The store, and what comes in from outside. */
export interface FactDeps {
  readonly store: BaseStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly scan: SecretScanner;
}

/** Now, as it is stored. */
export function instantOf({ clock }: FactDeps): string {
  return toInstant(Math.trunc(clock.now()));
}
