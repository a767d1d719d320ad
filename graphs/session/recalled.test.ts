import type { Operation } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import type { StorageBackend } from "#src/storage/backend.ts";
import { StoreView } from "#memory/stores/direct-store.ts";
import { echoModel } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** Notes what turns ask of memory and of evidence: one entry a call of the store, with its operations. */
function watchedReads() {
  const calls: (readonly Operation[])[] = [];
  const wrapStorage = (storage: StorageBackend): StorageBackend => ({
    ...storage,
    fencedStore: (lease) => {
      const store = storage.fencedStore(lease);
      return new StoreView((operations) => {
        if (operations.some(isOfMemory)) calls.push(operations);
        return store.batch(operations);
      });
    },
  });
  return { calls, wrapStorage };
}

function isOfMemory(operation: Operation): boolean {
  const place = "namespacePrefix" in operation ? operation.namespacePrefix : [];
  return place[0] === "memory" || place[0] === "evidence";
}

it.each([
  ["a model", { model: echoModel() }],
  ["no model", {}],
])("asks the store once in a turn of somebody without memory and documents: %s", async (_who, model) => {
  const { calls, wrapStorage } = watchedReads();
  const lily = await start({ ...model, wrapStorage });
  await lily.send("hello");
  calls.length = 0;
  await lily.send("which bike do I have?");
  // Three domains in two scopes, replacements under way, documents.
  expect(calls.map((operations) => operations.length)).toEqual([7]);
});

it("asks at most once more in a turn of somebody with a few facts", async () => {
  const { calls, wrapStorage } = watchedReads();
  const lily = await start({ wrapStorage });
  await lily.send("hello");
  await lily.send("/remember My bike is a red Brompton");
  calls.length = 0;
  const reply = await lily.send("which bike do I have?");
  expect(JSON.stringify(reply)).toContain("Brompton");
  expect(calls.length).toBeLessThanOrEqual(2);
});
