import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { openSqliteBackend } from "./sqlite-backend.ts";
import { scrubFiles } from "./sqlite-backend.ts";

const SECRET = "zebrafish in Ostend";

function fileWith(rows: number) {
  const file = join(temporaryFolder(), "x.sqlite");
  const db = openDatabase(file);
  db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)");
  const put = db.prepare("INSERT INTO t (text) VALUES (?)");
  for (let row = 0; row < rows; row += 1) put.run(`${SECRET} ${row} ${"x".repeat(row % 300)}`);
  return { file, db };
}

const bytesOf = (file: string): string =>
  ["", "-wal"].map((end) => readFileSync(`${file}${end}`).toString("latin1")).join("");

describe("a scrub", () => {
  it("leaves nothing of deleted rows in the file and its log", async () => {
    const { file, db } = fileWith(2_000);
    db.exec("DELETE FROM t WHERE id % 7 <> 0");
    db.exec("UPDATE t SET text = 'other'");
    expect(bytesOf(file)).toContain(SECRET);
    expect(await scrubFiles([db])).toEqual({ outcome: "done", files: 1 });
    expect(bytesOf(file)).not.toContain(SECRET);
    expect(statSync(`${file}-wal`).size).toBe(0);
    db.close();
  });

  it("says which file is not finished while somebody reads, and finishes when it is done again", async () => {
    const { file, db } = fileWith(10);
    const reader = openDatabase(file);
    const rows = reader.prepare("SELECT * FROM t").iterate();
    rows.next();
    db.exec("DELETE FROM t");
    const report = await scrubFiles([db], 60);
    expect(report).toMatchObject({ outcome: "unfinished" });
    expect("why" in report && report.why).toContain(`${file}: another program reads or writes it`);
    rows.return?.();
    reader.close();
    expect(await scrubFiles([db])).toEqual({ outcome: "done", files: 1 });
    expect(bytesOf(file)).not.toContain(SECRET);
    db.close();
  });

  it("keeps the order in which checkpoints were put", async () => {
    const folder = temporaryFolder();
    const storage = openSqliteBackend({
      checkpointPath: join(folder, "c.sqlite"),
      storePath: join(folder, "s.sqlite"),
      clock: createManualClock(0),
    });
    const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
    for (const [id, round] of [
      ["9", 1],
      ["5", 2],
      ["1", 3],
    ] as const) {
      const checkpoint = {
        v: 4,
        id,
        ts: "",
        channel_values: { round },
        channel_versions: {},
        versions_seen: {},
      };
      await storage.checkpointer.put(config, checkpoint, { source: "update", step: round, parents: {} }, {});
    }
    expect(await storage.erasure?.scrub()).toEqual({ outcome: "done", files: 2 });
    const newest = await storage.checkpointer.getTuple(config);
    expect(newest?.checkpoint.channel_values["round"]).toBe(3);
    await storage.close();
  });
});
