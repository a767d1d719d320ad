import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteCheckpointer } from "./sqlite-checkpointer.ts";

describe("the SQLite checkpointer", () => {
  let dir: string;
  let db: Database.Database;
  let saver: SqliteCheckpointer;
  const config = { configurable: { thread_id: "t" } };
  const metadata = { source: "input", step: -1, parents: {} } as const;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "lily-saver-"));
    db = openDatabase(join(dir, "checkpointer.sqlite"));
    saver = new SqliteCheckpointer(db);
  });

  afterEach(() => {
    db.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it("deletes a thread in a file that has no tables yet", async () => {
    await saver.deleteThread("t");
    expect(await saver.getTuple(config)).toBeUndefined();
  });

  it("takes an absent namespace for the empty one, also in writes", async () => {
    const stored = await saver.put(config, emptyCheckpoint(), metadata);
    const withoutNamespace = {
      configurable: { thread_id: "t", checkpoint_id: String(stored.configurable?.["checkpoint_id"]) },
    };
    await saver.putWrites(withoutNamespace, [["channel", "value"]], "task");
    const tuple = await saver.getTuple({ configurable: { thread_id: "t", checkpoint_ns: "" } });
    expect(tuple?.pendingWrites).toEqual([["task", "channel", "value"]]);
  });

  it("waits for another writer without blocking the event loop", async () => {
    saver.open();
    const other = new Database(db.name);
    other.exec("BEGIN IMMEDIATE");
    const steps: string[] = [];
    const put = saver.put(config, emptyCheckpoint(), metadata).then(() => steps.push("put"));
    const unlock = new Promise<void>((resolve) => {
      setTimeout(() => {
        steps.push("unlocked");
        other.exec("COMMIT");
        resolve();
      }, 120);
    });
    await Promise.all([put, unlock]);
    other.close();
    expect(steps).toEqual(["unlocked", "put"]);
  });

  it("lists every checkpoint, newest first, and as many as are asked for", async () => {
    const ids = ["1", "2", "3"].map((id) => `00000000-0000-6000-8000-00000000000${id}`);
    for (const id of ids) await saver.put(config, { ...emptyCheckpoint(), id }, metadata);
    const listed = async (options?: { limit: number }): Promise<string[]> => {
      const found: string[] = [];
      for await (const { checkpoint } of saver.list(config, options)) found.push(checkpoint.id);
      return found;
    };
    expect(await listed()).toEqual(ids.toReversed());
    expect(await listed({ limit: 1 })).toEqual([ids[2]]);
    await saver.deleteThread("t");
    expect(await listed()).toEqual([]);
  });

  it("names the file when something else is wrong with it", async () => {
    saver.open();
    db.exec("DROP TABLE writes");
    const broken = saver.putWrites(
      { configurable: { thread_id: "t", checkpoint_id: "c" } },
      [["a", 1]],
      "task",
    );
    await expect(broken).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining(db.name) as string,
    });
  });
});
