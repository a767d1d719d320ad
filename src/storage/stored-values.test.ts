import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { afterEach, describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend, openSqliteBackend } from "./sqlite/sqlite-backend.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function openSqlite(folder: string): BaseStore {
  const backend = openSqliteBackend({
    checkpointPath: join(folder, "checkpoints.sqlite"),
    storePath: join(folder, "store.sqlite"),
    clock: createManualClock(0),
  });
  closing.unshift(() => backend.close());
  return backend.store;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lily-values-"));
  closing.push(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const PLACE = ["values", "ada"];
const loop = () => {
  const value: Record<string, unknown> = {};
  value["me"] = value;
  return value;
};

describe("a value that JSON cannot carry", () => {
  const open = (): BaseStore => createMemoryBackend({ clock: createManualClock(0) }).store;

  it.each<[string, unknown, string]>([
    ["a date", { d: new Date(0) }, "$.d is a Date"],
    ["NaN", { x: NaN }, "$.x is NaN"],
    ["an infinity", { list: [1, Infinity] }, "$.list[1] is Infinity"],
    ["-0", { z: -0 }, "$.z is -0"],
    ["a map", { m: new Map() }, "$.m is a Map"],
    ["a set", { s: new Set() }, "$.s is a Set"],
    ["bytes", { b: new Uint8Array(1) }, "$.b is a Uint8Array"],
    ["a bigint", { n: 1n }, "$.n is bigint"],
    ["a function", { f: () => 1 }, "$.f is function"],
    ["a symbol", { s: Symbol("s") }, "$.s is symbol"],
    ["undefined in a list", { list: [undefined] }, "$.list[0] is undefined"],
    ["a hole in a list", { list: Array(1) }, "$.list[0] is undefined"],
    ["a value that contains itself", { deep: loop() }, "$.deep.me contains itself"],
  ])("is refused with its path when it is %s, and what was there stays", async (_what, value, problem) => {
    const store = open();
    await store.put(PLACE, "k", { kept: true });
    const put = store.put(PLACE, "k", value as Record<string, unknown>);
    await expect(put).rejects.toMatchObject({ code: "value_not_json" });
    await expect(put).rejects.toThrow(problem);
    expect((await store.get(PLACE, "k"))?.value).toEqual({ kept: true });
  });

  it("is taken for absent when it is undefined under a key", async () => {
    const store = open();
    await store.put(PLACE, "k", { u: undefined, kept: true });
    expect(Object.keys((await store.get(PLACE, "k"))?.value ?? {})).toEqual(["kept"]);
  });

  it("cannot come in by a change to what was put", async () => {
    const store = open();
    const value: Record<string, unknown> = { list: [1] };
    await store.put(PLACE, "k", value);
    value["list"] = new Date(0);
    expect((await store.get(PLACE, "k"))?.value).toEqual({ list: [1] });
  });
});

describe("a plain object that looks like one of a framework", () => {
  const trap = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "AIMessage"],
    kwargs: { content: "x" },
  };

  it("comes back as it was from the store, also after a restart", async () => {
    const folder = newFolder();
    const store = openSqlite(folder);
    await store.put(PLACE, "k", { trap, list: [{ lc: 2, type: "undefined" }] });
    await closing.shift()?.();
    const found = (await openSqlite(folder).get(PLACE, "k"))?.value;
    expect(found).toEqual({ trap, list: [{ lc: 2, type: "undefined" }] });
    expect(Object.getPrototypeOf(found?.["trap"])).toBe(Object.prototype);
  });
});
