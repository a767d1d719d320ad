import { Annotation, getConfig, MemorySaver, StateGraph } from "@langchain/langgraph";
import { RunnableLambda } from "@langchain/core/runnables";
import { expect, it } from "vitest";
import { streamParts } from "./stream-parts.ts";

/** All parts, also where reading ends with an error. */
async function read(parts: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  try {
    for await (const part of parts) all.push(part);
  } catch (error) {
    all.push(error);
  }
  return all;
}

/** Streams `parts` by itself. */
const streaming = (parts: () => AsyncGenerator) => ({ transform: parts });

it("gives the parts as they come", async () => {
  const letters = RunnableLambda.from(async function* (text: string) {
    yield* text;
  });
  expect(await read(streamParts(letters, "abc", {}))).toEqual(["a", "b", "c"]);
});

it("ends with the error of the runnable, also with the first part", async () => {
  const broken = streaming(async function* () {
    yield await Promise.reject(new Error("broken"));
  });
  expect(await read(streamParts(broken, "", {}))).toEqual([new Error("broken")]);
});

it("ends when the runnable has heard the signal and ended what it had begun", async () => {
  const stop = new AbortController();
  const steps: string[] = [];
  const writing = streaming(async function* () {
    yield 1;
    stop.abort(new Error("stopped"));
    try {
      stop.signal.throwIfAborted();
    } finally {
      await new Promise((resolve) => setTimeout(resolve, 20));
      steps.push("written");
    }
  });
  expect(await read(streamParts(writing, "", { signal: stop.signal }))).toEqual([1, new Error("stopped")]);
  expect(steps).toEqual(["written"]);
});

it("closes the runnable when nobody reads on", async () => {
  const steps: string[] = [];
  const letters = streaming(async function* () {
    try {
      yield* "abc";
    } finally {
      steps.push("closed");
    }
  });
  for await (const _letter of streamParts(letters, "", {})) break;
  expect(steps).toEqual(["closed"]);
});

it("says what is wrong with its context", async () => {
  const nothing = streaming(async function* () {
    yield 1;
  });
  const broken = { callbacks: [null] } as unknown as { callbacks: [] };
  const [error] = await read(streamParts(nothing, "", broken));
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).not.toContain("Iterator result");
});

it("runs in a context of its own: a graph in it keeps its own memory, not that of the graph around", async () => {
  const State = Annotation.Root({ n: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }) });
  const [own, around] = [new MemorySaver(), new MemorySaver()];
  const inner = new StateGraph(State)
    .addNode("add", () => ({ n: 1 }))
    .addEdge("__start__", "add")
    .compile({ checkpointer: own });
  const seen: unknown[] = [];
  const model = streaming(async function* () {
    seen.push(getConfig());
    yield (await inner.invoke({ n: 0 }, { configurable: { thread_id: "mine" } })).n;
  });
  const outer = new StateGraph(State)
    .addNode("ask", async () => {
      seen.push(...(await read(streamParts(model, "", {}))));
      return {};
    })
    .addEdge("__start__", "ask")
    .compile({ checkpointer: around });
  await outer.invoke({ n: 0 }, { configurable: { thread_id: "t" } });
  await outer.invoke({ n: 0 }, { configurable: { thread_id: "t" } });
  expect(seen).toEqual([undefined, 1, undefined, 2]);
  expect(Object.keys(own.storage)).toEqual(["mine"]);
});
