/** The stores on which a session repository is tested, each opened anew and closed with the test. */
import { AsyncBatchedStore, InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import { onTestFinished } from "vitest";
import type { ManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend } from "../sqlite/sqlite-backend.ts";

/** Each by its name. */
export function repositoryStores(clock: ManualClock): readonly (readonly [string, () => BaseStore])[] {
  return [
    ["the SQLite store", () => openSqliteStore(clock)],
    ["LangGraph's InMemoryStore", () => new InMemoryStore()],
    ["the store of a node", openNodeStore],
  ];
}

function openSqliteStore(clock: ManualClock): BaseStore {
  const backend = createMemoryBackend({ clock });
  onTestFinished(() => backend.close());
  return backend.store;
}

/** What LangGraph gives to nodes, around any store; its `batch` throws. */
function openNodeStore(): BaseStore {
  const store = new AsyncBatchedStore(new InMemoryStore());
  store.start();
  onTestFinished(() => store.stop());
  return store;
}
