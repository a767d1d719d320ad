import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";

it("is the store of a graph: what one run puts, the next one finds", async () => {
  const db = openDatabase(":memory:");
  const store = new SqliteStore(db, { clock: createManualClock(0) });
  const State = Annotation.Root({ text: Annotation<string>(), found: Annotation<string[]>() });
  const graph = new StateGraph(State)
    .addNode("remember", async ({ text }, { store: runStore }) => {
      const found = (await runStore?.search(["facts", "ada"], { query: text })) ?? [];
      await runStore?.put(["facts", "ada"], `k${found.length}`, { text });
      return { found: found.map((item) => String(item.value["text"])) };
    })
    .addEdge(START, "remember")
    .addEdge("remember", END)
    .compile({ store });

  expect((await graph.invoke({ text: "Rosa has a red van" })).found).toEqual([]);
  expect((await graph.invoke({ text: "what colour is the van?" })).found).toEqual(["Rosa has a red van"]);
  expect(await store.listNamespaces()).toEqual([["facts", "ada"]]);
  db.close();
});
