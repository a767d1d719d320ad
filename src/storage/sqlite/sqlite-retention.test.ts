import type { Database } from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteCheckpointer } from "./sqlite-checkpointer.ts";
import { createSqliteRetention } from "./sqlite-retention.ts";

describe("pruning of checkpoints in SQLite", () => {
  let db: Database;

  beforeEach(() => {
    db = openDatabase(":memory:");
    new SqliteCheckpointer(db).open();
  });

  afterEach(() => {
    db.close();
  });

  const add = (id: string, { source = "loop", namespace = "", threadId = "t", writes = 0 } = {}): void => {
    db.prepare("INSERT INTO checkpoints VALUES (?, ?, ?, NULL, 'json', '{}', ?)").run(
      threadId,
      namespace,
      id,
      Buffer.from(JSON.stringify({ source })),
    );
    const addWrite = db.prepare("INSERT INTO writes VALUES (?, ?, ?, 'task', ?, 'channel', 'json', '1')");
    for (let index = 0; index < writes; index += 1) addWrite.run(threadId, namespace, id, index);
  };
  const idsIn = (table: "checkpoints" | "writes"): unknown[] =>
    db
      .prepare(
        `SELECT DISTINCT thread_id || '/' || checkpoint_ns || '/' || checkpoint_id FROM ${table} ORDER BY 1`,
      )
      .pluck()
      .all();

  it("deletes more rows than one transaction takes, and the writes with their checkpoints", async () => {
    for (let index = 1; index <= 450; index += 1) {
      add(String(index).padStart(4, "0"), { writes: 2 });
    }
    expect(await createSqliteRetention(db).prune("t", 3)).toEqual({ deletedCheckpoints: 447 });
    expect(idsIn("checkpoints")).toEqual(["t//0448", "t//0449", "t//0450"]);
    expect(idsIn("writes")).toEqual(idsIn("checkpoints"));
  });

  it("keeps the newest checkpoint of a subgraph that remembers, and drops subgraphs of old runs", async () => {
    add("1", { source: "input" });
    add("2", { namespace: "remembers" });
    add("3", { namespace: "remembers", writes: 1 });
    add("4", { source: "input", namespace: "anew:task-1", writes: 1 });
    add("5", { source: "input" });
    add("6", { source: "input", namespace: "anew:task-2" });
    expect(await createSqliteRetention(db).prune("t", 1)).toEqual({ deletedCheckpoints: 3 });
    expect(idsIn("checkpoints")).toEqual(["t//5", "t/anew:task-2/6", "t/remembers/3"]);
    expect(idsIn("writes")).toEqual(["t/remembers/3"]);
  });

  it("leaves other threads alone", async () => {
    for (const threadId of ["t", "t2", "T"]) {
      add("1", { source: "input", threadId });
      add("2", { source: "input", threadId });
    }
    await createSqliteRetention(db).prune("t", 1);
    expect(idsIn("checkpoints")).toEqual(["T//1", "T//2", "t2//1", "t2//2", "t//2"].sort());
  });
});
