import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
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

  it("ST-14 takes an absent namespace for the empty one, also in writes", async () => {
    const stored = await saver.put(config, emptyCheckpoint(), metadata);
    const withoutNamespace = {
      configurable: { thread_id: "t", checkpoint_id: String(stored.configurable?.["checkpoint_id"]) },
    };
    await saver.putWrites(withoutNamespace, [["channel", "value"]], "task");
    const tuple = await saver.getTuple({ configurable: { thread_id: "t", checkpoint_ns: "" } });
    expect(tuple?.pendingWrites).toEqual([["task", "channel", "value"]]);
  });

  it("puts a checkpoint in the place of others, whose writes go with them", async () => {
    const [base, first, second, end] = [1, 2, 3, 4].map((n) => ({ ...emptyCheckpoint(), id: `id-${n}` }));
    if (!base || !first || !second || !end) throw new Error("there are four");
    await saver.put(config, base, metadata);
    for (const point of [first, second])
      await saver.putWrites(await saver.put(config, point, metadata), [["channel", point.id]], "task");
    const after = { configurable: { thread_id: "t", checkpoint_id: base.id } };
    await saver.putInPlaceOf([first.id, second.id], after, end, metadata);

    const left: CheckpointTuple[] = [];
    for await (const tuple of saver.list(config)) left.push(tuple);
    expect(left.map(({ checkpoint }) => checkpoint.id)).toEqual([end.id, base.id]);
    expect(left[0]?.parentConfig?.configurable?.["checkpoint_id"]).toBe(base.id);
    expect(db.prepare("SELECT count(*) FROM writes").pluck().get()).toBe(0);
  });

  it("puts what comes in the place of others as the newest, also where somebody has put one behind them", async () => {
    const [point, byHand, end] = [1, 2, 3].map((n) => ({ ...emptyCheckpoint(), id: `id-${n}` }));
    if (!point || !byHand || !end) throw new Error("there are three");
    await saver.put(config, point, metadata);
    await saver.put(config, byHand, { ...metadata, source: "update" });
    await saver.putInPlaceOf([point.id], config, end, metadata);
    expect((await saver.getTuple(config))?.checkpoint.id).toBe(end.id);
    expect(db.prepare("SELECT count(*) FROM checkpoints").pluck().get()).toBe(2);
  });

  it("puts it as any other where none of them is there", async () => {
    await saver.putInPlaceOf(["gone"], config, emptyCheckpoint(), metadata);
    expect(await saver.getTuple(config)).toBeDefined();
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

  describe("with checkpoints that were changed from outside", () => {
    const ids = ["1", "2", "3"].map((id) => `00000000-0000-6000-8000-00000000000${id}`);
    const put = async (): Promise<void> => {
      for (const id of ids) await saver.put(config, { ...emptyCheckpoint(), id }, metadata);
    };
    const damage = (id: string | undefined, sql: string): void => {
      db.prepare(`UPDATE checkpoints SET ${sql} WHERE checkpoint_id = ?`).run(id);
    };
    const newest = async () => (await saver.getTuple(config))?.checkpoint.id;

    it.each([
      ["half of it is gone", "checkpoint = substr(checkpoint, 1, length(checkpoint) / 2)"],
      ["it is zeros", "checkpoint = zeroblob(length(checkpoint))"],
      ["it is another JSON", "checkpoint = '[]'"],
      ["it is empty", "checkpoint = ''"],
      ["a letter of its state is another one", "checkpoint = replace(checkpoint, 'channel', 'chamnel')"],
      ["its metadata is not JSON", "metadata = 'x' || metadata"],
      ["its metadata is no object", "metadata = '7'"],
    ])("gives the next older one when %s, and tells of it once", async (_why, sql) => {
      await put();
      damage(ids[2], sql);
      expect(await newest()).toBe(ids[1]);
      expect([await newest(), saver.takeDamaged("t"), saver.takeDamaged("t")]).toEqual([ids[1], 1, 0]);
      damage(ids[1], sql);
      expect(await newest()).toBe(ids[0]);
      damage(ids[0], sql);
      expect(await newest()).toBeUndefined();
    });

    it("leaves them out of a list, also one with a filter and a limit", async () => {
      await put();
      damage(ids[1], "checkpoint = 'x'");
      const found: string[] = [];
      for await (const tuple of saver.list(config, { filter: { source: "input" }, limit: 2 }))
        found.push(tuple.checkpoint.id);
      expect(found).toEqual([ids[2], ids[0]]);
      damage(ids[2], "metadata = '{'");
      const before = { configurable: { thread_id: "t", checkpoint_id: ids[2] } };
      const older: unknown[] = [];
      for await (const tuple of saver.list(config, { before })) older.push(tuple.metadata);
      expect(older).toEqual([metadata]);
    });

    it("says that one is damaged when it is asked for by its id", async () => {
      await put();
      damage(ids[0], "checkpoint = 'x'");
      const asked = saver.getTuple({ configurable: { thread_id: "t", checkpoint_id: ids[0] } });
      await expect(asked).rejects.toMatchObject({ code: "record_invalid" });
    });

    it("takes a task of which a write cannot be read for one that has not run", async () => {
      await put();
      const on = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: ids[2] } };
      await saver.putWrites(
        on,
        [
          ["a", 1],
          ["b", 2],
        ],
        "one",
      );
      await saver.putWrites(on, [["a", 3]], "two");
      db.prepare("UPDATE writes SET value = '{' WHERE task_id = 'one' AND channel = 'b'").run();
      expect((await saver.getTuple(config))?.pendingWrites).toEqual([["two", "a", 3]]);
    });

    it("reads what a program without checksums has put", async () => {
      await put();
      damage(ids[2], `metadata = '${JSON.stringify(metadata)}'`);
      expect(await newest()).toBe(ids[2]);
      expect((await saver.getTuple(config))?.metadata).toEqual(metadata);
    });
  });
});
