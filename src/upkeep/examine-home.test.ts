import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { spawnSync } from "node:child_process";
import { currentProcess } from "#src/storage/sqlite/process-identity.ts";
import { examineHome } from "./examine-home.ts";
import type { Home } from "./home.ts";
import { writeMarker } from "./restore-marker.ts";
import { damageText, zero } from "./testing/damage-file.ts";
import { emptyHome, homeWith, openLily } from "./testing/make-home.ts";
import { notOk, rowOf } from "./testing/rows.ts";

const HOUR = 60 * 60 * 1000;

/** The homes are made now; the examination looks at them later, when nothing in them is young any more. */
const later = createManualClock(Date.now() + 2 * HOUR);

const examine = (home: Home) => examineHome(home, later);

function change(file: string, sql: string, ...values: unknown[]): void {
  const db = new Database(file);
  db.prepare(sql).run(...values);
  db.close();
}

/** Whole bytes of a home's databases. */
const databaseBytes = ({ databases }: Home): string[] =>
  Object.values(databases).map((file) => readFileSync(file, "base64"));

describe("an examination", () => {
  it("finds nothing wrong where nothing is, and changes no byte of the databases", async () => {
    const home = await homeWith("one", "/new", "two");
    const before = databaseBytes(home);
    const { checks } = await examine(home);
    expect(notOk(checks)).toEqual({});
    expect(rowOf(checks, "seals").found).toContain("2 sessions with 2 turns");
    expect(databaseBytes(home)).toEqual(before);
  });

  it("looks at a home that is in use, log included", async () => {
    const home = emptyHome();
    const lily = await openLily(home);
    await lily.say("one");
    const { checks } = await examine(home);
    await lily.close();
    expect(notOk(checks)).toEqual({});
    expect(rowOf(checks, "seals").found).toContain("1 session with 1 turn");
  });

  it("says of an empty home that its files do not exist yet", async () => {
    const { checks, usage } = await examine(emptyHome());
    expect(notOk(checks)).toEqual({});
    expect(usage).toEqual([]);
  });

  it.each(["store", "checkpoints"] as const)(
    "names a %s file of zeros, keeps it, and looks at the other one all the same (ST-07)",
    async (role) => {
      const home = await homeWith("one");
      zero(home.databases[role]);
      const before = databaseBytes(home);
      const { checks } = await examine(home);
      const [name, other] =
        role === "store" ? ["store file", "checkpoint file"] : ["checkpoint file", "store file"];
      expect(rowOf(checks, name)).toMatchObject({
        state: "bad",
        code: "storage_damaged",
        found: expect.stringContaining(home.databases[role]) as unknown,
        next: expect.stringContaining("lily restore") as unknown,
      });
      expect(rowOf(checks, other)).toMatchObject({ state: "ok" });
      if (role === "checkpoints") expect(rowOf(checks, "seals").state).toBe("ok");
      expect(databaseBytes(home)).toEqual(before);
    },
  );

  it("names a JSON file of zeros (ST-07)", async () => {
    const home = await homeWith("one");
    const file = join(home.folder, "api-keys.json");
    writeFileSync(file, Buffer.alloc(100));
    const { checks } = await examine(home);
    expect(notOk(checks)).toEqual({ settings: "bad" });
    expect(rowOf(checks, "settings").found).toBe(`${file} holds nothing but zeros`);
  });

  it("names a file with one bad page, with what to do (ST-08)", async () => {
    const home = await homeWith("one", `two ${"word ".repeat(2000)}`);
    damageText(home.databases.store, "two word");
    const { checks } = await examine(home);
    expect(rowOf(checks, "store file")).toMatchObject({
      state: "bad",
      code: "storage_damaged",
      next: expect.stringContaining("lily restore") as unknown,
    });
    expect(rowOf(checks, "checkpoint file").state).toBe("ok");
  });

  it("names a file that a newer program wrote, and leaves it byte for byte (ST-10)", async () => {
    const home = await homeWith("one");
    const db = new Database(home.databases.store);
    db.pragma("user_version = 99");
    db.close();
    const before = databaseBytes(home);
    const { checks } = await examine(home);
    expect(notOk(checks)).toEqual({ "store file": "bad" });
    expect(rowOf(checks, "store file")).toMatchObject({ code: "storage_newer" });
    expect(databaseBytes(home)).toEqual(before);
    expect(readdirSync(join(home.databases.store, ".."))).toEqual(["store.sqlite"]);
  });

  it("finds a turn that was changed, one that is missing, and a transcript of nobody", async () => {
    const home = await homeWith("one", "two");
    const { store } = home.databases;
    change(store, "UPDATE items SET value = replace(value, 'two', 'too') WHERE key = '00000002'");
    change(store, "DELETE FROM items WHERE key = '00000001'");
    change(store, "INSERT INTO namespaces (path) VALUES ('history.nobody.key.session.')");
    change(
      store,
      `INSERT INTO items (namespace_id, key, created_at, updated_at, value)
       SELECT id, '00000001', 0, 0, '{}' FROM namespaces WHERE path = 'history.nobody.key.session.'`,
    );
    const seals = rowOf((await examine(home)).checks, "seals");
    expect(seals).toMatchObject({ state: "bad", code: "verify_failed" });
    expect(seals.found).toContain("turn 1: it is missing");
    expect(seals.found).toContain("turn 2: its text is not what was committed");
    expect(seals.found).toContain("history/nobody/key/session");
  });

  it("finds a chain that cannot be read", async () => {
    const home = await homeWith("one");
    change(home.databases.store, "UPDATE items SET value = '{}' WHERE key = 'chain'");
    expect(rowOf((await examine(home)).checks, "seals").state).toBe("bad");
  });

  it("finds a session that is not in the index, and a delivery that leads to nothing", async () => {
    const home = await homeWith("one");
    const paths = "(SELECT id FROM namespaces WHERE path LIKE ?)";
    change(home.databases.store, `DELETE FROM items WHERE namespace_id IN ${paths}`, "session-index.%");
    change(
      home.databases.store,
      `UPDATE items SET value = '{"sessionId":"gone","turn":1}' WHERE namespace_id IN ${paths}`,
      "deliveries.%",
    );
    expect(notOk((await examine(home)).checks)).toEqual({ "session index": "bad", deliveries: "warn" });
  });

  it("finds a text index that has too little or too much", async () => {
    const home = await homeWith("one", "two");
    change(home.databases.store, "INSERT INTO item_text (rowid, body) VALUES (4711, 'nothing')");
    expect(rowOf((await examine(home)).checks, "text index").found).toContain("1 are of no item");
    change(home.databases.store, "INSERT INTO item_text (item_text) VALUES ('delete-all')");
    expect(rowOf((await examine(home)).checks, "text index").found).toContain("2 texts are missing");
  });

  it("tells leases of living, dead and unknown processes apart", async () => {
    const home = await homeWith("one");
    const { pid: deadPid } = spawnSync(process.execPath, ["-e", ""]);
    const { pid, host, started } = currentProcess();
    const soon = later.now() + 1000;
    for (const [name, ...row] of [
      ["live", pid, host, started, soon],
      ["far", 1, "elsewhere", null, soon],
      ["dead", deadPid, host, null, soon],
      ["late", pid, host, started, later.now()],
    ] as const) {
      change(
        home.databases.store,
        "INSERT INTO leases (name, token, holder, pid, host, started, expires_at) VALUES (?, 1, 'h', ?, ?, ?, ?)",
        name,
        ...row,
      );
    }
    const leases = rowOf((await examine(home)).checks, "leases");
    expect(leases.state).toBe("warn");
    expect(leases.found).toBe(
      `2 leases held by process 1, process ${pid}; 1 of processes that are gone, 1 run out`,
    );
  });

  it("finds checkpoints of a thread that is no session and writes without checkpoint, once they are an hour old", async () => {
    const home = await homeWith("one");
    const { checkpoints } = home.databases;
    change(
      checkpoints,
      `INSERT INTO checkpoints SELECT 'nobody', checkpoint_ns, checkpoint_id, NULL, type, checkpoint, metadata FROM checkpoints LIMIT 1`,
    );
    change(
      checkpoints,
      `INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel)
       VALUES ('nobody', '', '10000000-0000-6000-8000-000000000000', 't', 0, 'c')`,
    );
    const { checks } = await examineHome(home, createManualClock(Date.now()));
    expect(rowOf(checks, "leftovers").found).toBe(
      "0 checkpoints of 0 threads that are no session, 1 write without checkpoint",
    );
    expect(rowOf((await examine(home)).checks, "leftovers").found).toBe(
      "1 checkpoint of 1 thread that are no session, 1 write without checkpoint",
    );
  });

  it("finds blobs that nothing refers to, and none that a turn or a checkpoint names", async () => {
    const home = await homeWith("one aaaaaaaaaaaaaaaa");
    const db = new Database(home.databases.store);
    const store = new SqliteStore(db, { clock: later });
    for (const key of ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"])
      await store.put(["blobs", "local"], key, { data: "x" }, false);
    db.close();
    change(
      home.databases.checkpoints,
      "UPDATE checkpoints SET metadata = metadata, checkpoint = checkpoint || 'cccccccccccccccc'",
    );
    const { checks } = await examine(home);
    expect(rowOf(checks, "blobs").found).toContain("1 of 3 blobs");
  });

  it("finds checkpoints that cannot be read, and of which session they are", async () => {
    const home = await homeWith("one", "two");
    const { checkpoints } = home.databases;
    change(checkpoints, "UPDATE checkpoints SET checkpoint = substr(checkpoint, 2) WHERE rowid = 1");
    const row = rowOf((await examine(home)).checks, "checkpoints");
    expect(row.state).toBe("warn");
    expect(row.found).toMatch(/^1 of 2 checkpoints cannot be read, of [0-9a-f-]{36}$/u);
  });

  it("finds requests to stop a turn that are older than a day", async () => {
    const home = await homeWith("one");
    const db = new Database(home.databases.store);
    const store = new SqliteStore(db, { clock: createManualClock(Date.now()) });
    await store.put(["stop-requests", "local", "cli"], "1/d", { token: 1, by: "d" }, false);
    db.close();
    expect(rowOf((await examine(home)).checks, "stop requests").state).toBe("ok");
    const nextDay = createManualClock(Date.now() + 25 * HOUR);
    expect(rowOf((await examineHome(home, nextDay)).checks, "stop requests").found).toContain("1 request");
  });

  it("tells of a restore that was cut off", async () => {
    const home = await homeWith("one");
    writeMarker(home.folder, { backup: "/backups/1", startedAt: "2026-03-01T09:00:00.000Z", staged: [] });
    const { checks } = await examine(home);
    expect(rowOf(checks, "restore")).toMatchObject({
      state: "bad",
      next: expect.stringContaining("lily restore /backups/1") as unknown,
    });
  });

  it("takes a lost checkpoint file for a small loss and a lost store for a great one", async () => {
    const home = await homeWith("one");
    rmSync(home.databases.checkpoints);
    expect(notOk((await examine(home)).checks)).toEqual({ pair: "warn" });
    const other = await homeWith("one");
    rmSync(other.databases.store);
    expect(notOk((await examine(other)).checks)).toEqual({ pair: "bad" });
  });

  it("tells what takes the space: kinds add up to the files", async () => {
    const home = await homeWith("one", "two");
    const { usage } = await examine(home);
    const kinds = new Map(usage.map(({ kind, count }) => [kind, count]));
    expect(kinds.get("transcripts")).toBe(2);
    expect(kinds.get("deliveries")).toBe(2);
    const total = Object.values(home.databases).reduce((sum, file) => sum + readFileSync(file).length, 0);
    expect(usage.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(total);
  });
});
