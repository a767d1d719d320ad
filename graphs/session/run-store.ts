/** The store that a run may write to: under the lease of its key, where it has one. */
import type { Runtime } from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { LilyError } from "#src/kernel/errors.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { sessionContextSchema, type SessionContext } from "./state.ts";

/** The store of a run. @throws {LilyError} `config_invalid` */
export function storeOfRun(
  deps: SessionDeps,
  runtime: Pick<Runtime<SessionContext>, "context" | "store">,
): BaseStore {
  const { fence } = sessionContextSchema.parse(runtime.context ?? {});
  if (fence !== undefined && deps.fencedStore !== undefined) return deps.fencedStore(fence);
  if (runtime.store !== undefined) return runtime.store;
  throw new LilyError("config_invalid", "the graph was run without a store", {
    next: "Compile it with a store.",
  });
}
