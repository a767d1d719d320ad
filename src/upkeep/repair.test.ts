import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { temporaryFolder } from "#memory/stores/sqlite/temporary-folder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { currentProcess } from "#src/storage/sqlite/process-identity.ts";
import { examineHome } from "./examine-home.ts";
import type { Home } from "./home.ts";
import { repair, type RepairStep } from "./repair.ts";
import { removeUnusedBlobs } from "./repairs/blobs.ts";
import { textIndexState } from "./checks/text-index.ts";
import { rebuildTextIndex } from "./repairs/text-index.ts";
import { damageText } from "./testing/damage-file.ts";
import { homeWith, openLily, saidIn, sayIn } from "./testing/make-home.ts";
import { notOk, rowOf } from "./testing/rows.ts";

const later = createManualClock(Date.now() + 2 * 60 * 60 * 1000);

const nextDay = createManualClock(Date.now() + 25 * 60 * 60 * 1000);

async function repairOf(home: Home, clock = later): Promise<{ steps: RepairStep[]; backup: string }> {
  const { checks } = await examineHome(home, clock);
  const backup = join(temporaryFolder(), "backup");
  return { steps: await repair({ home, folder: backup, program: "1", clock }, checks), backup };
}

/** Puts an item of now into the store of a home. */
async function putIn(home: Home, namespace: string[], key: string, value: object): Promise<void> {
  const db = new Database(home.databases.store);
  await new SqliteStore(db, { clock: createManualClock(Date.now()) }).put(
    namespace,
    key,
    { ...value },
    false,
  );
  db.close();
}

const didIn = (steps: readonly RepairStep[], item: string): string =>
  steps.find((step) => step.item === item)?.did ?? "";

function change(file: string, sql: string, ...values: unknown[]): void {
  const db = new Database(file);
  db.prepare(sql).run(...values);
  db.close();
}

describe("a repair", () => {
  it("makes a backup first and does nothing where nothing is to be done", async () => {
    const { steps, backup } = await repairOf(await homeWith("one"));
    expect(existsSync(join(backup, "manifest.json"))).toBe(true);
    expect(steps.map(({ state }) => state)).toEqual(["done", ...steps.slice(1).map(() => "nothing")]);
  });

  it("removes what is left over, gives leases back, and builds the text index anew", async () => {
    const home = await homeWith("one walnut", "/new", "two");
    const { checkpoints, store } = home.databases;
    const copies = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450)`;
    change(
      checkpoints,
      `${copies} INSERT INTO checkpoints SELECT 'nobody', 'n' || i, checkpoint_id, NULL, type, checkpoint, metadata
       FROM n, (SELECT * FROM checkpoints LIMIT 1)`,
    );
    change(
      checkpoints,
      `INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel)
       VALUES ('t', '', '10000000-0000-6000-8000-000000000000', 't', 0, 'c')`,
    );
    change(store, "UPDATE leases SET expires_at = 1");
    change(store, "INSERT INTO item_text (item_text) VALUES ('delete-all')");
    const { steps } = await repairOf(home);
    expect(didIn(steps, "leftovers")).toContain("removed 450 checkpoints");
    expect(didIn(steps, "leftovers")).toContain("1 write");
    expect(didIn(steps, "leases")).toBe("gave back 1 lease");
    expect(didIn(steps, "text index")).toContain("2 texts");
    expect(notOk((await examineHome(home, later)).checks)).toEqual({});
    expect(await saidIn(home)).toEqual(["one walnut", "two"]);
  });

  it("leaves every checkpoint where the store knows no session at all", async () => {
    const home = await homeWith("one");
    change(home.databases.store, "DELETE FROM items");
    change(home.databases.store, "DELETE FROM namespaces");
    await repairOf(home);
    const db = new Database(home.databases.checkpoints, { readonly: true });
    expect(db.prepare("SELECT count(*) FROM checkpoints").pluck().get()).toBeGreaterThan(0);
    db.close();
  });

  it("touches nothing in a file that is damaged (ST-08)", async () => {
    const home = await homeWith("one", `two ${"word ".repeat(2000)}`);
    damageText(home.databases.store, "two word");
    const before = readFileSync(home.databases.store);
    const { steps, backup } = await repairOf(home);
    expect(steps).toMatchObject([
      { state: "left", did: expect.stringContaining(home.databases.store) as unknown },
    ]);
    expect(existsSync(backup)).toBe(false);
    expect(readFileSync(home.databases.store).equals(before)).toBe(true);
  });

  it("removes checkpoints that cannot be read, with their writes, and the conversation goes on", async () => {
    const home = await homeWith("one", "two");
    const { checkpoints } = home.databases;
    change(checkpoints, "UPDATE checkpoints SET checkpoint = 'x'");
    change(
      checkpoints,
      `INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel)
       SELECT thread_id, checkpoint_ns, checkpoint_id, 't', 0, 'c' FROM checkpoints`,
    );
    const { steps, backup } = await repairOf(home);
    expect(didIn(steps, "checkpoints")).toBe("removed 2 checkpoints that could not be read");
    expect(existsSync(join(backup, "manifest.json"))).toBe(true);
    expect(notOk((await examineHome(home, later)).checks)).toEqual({});
    await sayIn(home, "three");
    expect(await saidIn(home)).toEqual(["one", "two", "three"]);
  });

  it("removes requests to stop a turn that is long over", async () => {
    const home = await homeWith("one");
    await putIn(home, ["stop-requests", "local", "cli"], "1/d", { token: 1, by: "d" });
    const { steps } = await repairOf(home, nextDay);
    expect(didIn(steps, "stop requests")).toBe("removed 1 request to stop a turn");
  });

  describe("of blobs", () => {
    const blobsOf = (home: Home): unknown[] => {
      const db = new Database(home.databases.store, { readonly: true });
      const sql = `SELECT key FROM items JOIN namespaces AS n ON n.id = namespace_id
        WHERE n.path LIKE 'blobs.%' ORDER BY key`;
      const keys = db.prepare(sql).pluck().all();
      db.close();
      return keys;
    };
    const USED = "a".repeat(16);
    const UNUSED = "b".repeat(16);
    const homeWithBlobs = async (): Promise<Home> => {
      const home = await homeWith(`one ${USED}`);
      for (const key of [USED, UNUSED]) await putIn(home, ["blobs", "local"], key, { data: "x" });
      return home;
    };

    it("removes those that nothing names once they are older than a day", async () => {
      const home = await homeWithBlobs();
      expect(didIn((await repairOf(home)).steps, "blobs")).toBe("there was nothing to do");
      expect(didIn((await repairOf(home, nextDay)).steps, "blobs")).toContain("removed 1 blob");
      expect(blobsOf(home)).toEqual([USED]);
    });

    it("leaves them while somebody is in a turn, which may be about to name one", async () => {
      const home = await homeWithBlobs();
      const { host, pid, started } = currentProcess();
      change(
        home.databases.store,
        `INSERT INTO leases (name, token, holder, pid, host, started, expires_at) VALUES ('t', 1, 'h', ?, ?, ?, ?)`,
        pid,
        host,
        started,
        nextDay.now() + 1000,
      );
      const { steps } = await repairOf(home, nextDay);
      expect(steps.find(({ item }) => item === "blobs")?.state).toBe("left");
      expect(blobsOf(home)).toEqual([USED, UNUSED]);
    });

    it("leaves them when somebody has written since they were looked for", async () => {
      const home = await homeWithBlobs();
      const store = new Database(home.databases.store);
      let isAsked = false;
      const writer = {
        ...nextDay,
        // Asked for the age of a blob, between the search and the removal.
        now: () => {
          if (!isAsked) change(home.databases.store, "UPDATE leases SET token = token + 1");
          isAsked = true;
          return nextDay.now();
        },
      };
      expect(await removeUnusedBlobs({ store, checkpoints: undefined }, writer)).toMatchObject({
        state: "left",
      });
      store.close();
      expect(blobsOf(home)).toEqual([USED, UNUSED]);
    });
  });

  it("changes no transcript, chain or seal, whatever is wrong with them", async () => {
    const home = await homeWith("one", "two");
    const { store } = home.databases;
    change(store, "UPDATE items SET value = replace(value, 'two', 'too') WHERE key = '00000002'");
    const items = (): unknown[] => {
      const db = new Database(store, { readonly: true });
      const rows = db.prepare("SELECT * FROM items ORDER BY id").all();
      db.close();
      return rows;
    };
    const before = items();
    await repairOf(home);
    expect(items()).toEqual(before);
  });

  it("folds a log that nobody folds (ST-03) and gives free space back when nobody has the file open", async () => {
    const home = await homeWith("one");
    const db = new Database(home.databases.store);
    db.exec("CREATE TABLE filler (x)");
    db.exec("INSERT INTO filler VALUES (zeroblob(20000000))");
    db.exec("DROP TABLE filler");
    expect(rowOf((await examineHome(home, later)).checks, "store file: room").state).toBe("warn");
    const { steps: beside } = await repairOf(home);
    expect(didIn(beside, "free space (store)")).toContain("no other process");
    expect(statSync(`${home.databases.store}-wal`).size).toBe(0);
    db.close();
    const { steps } = await repairOf(home);
    expect(didIn(steps, "free space (store)")).toContain("gave back 20 MB");
    expect(statSync(home.databases.store).size).toBeLessThan(1_000_000);
    expect(await saidIn(home)).toEqual(["one"]);
  });
});

describe("a text index that is built anew", () => {
  const clock = createManualClock(0);

  function openStore(file: string) {
    const db = openDatabase(file, { schema: STORE_SCHEMA });
    onTestFinished(() => void db.close());
    return { db, store: new SqliteStore(db, { clock }) };
  }

  /** An entry of no item: enough for the index to be built anew. */
  const spoil = (db: Database.Database, table: string): void =>
    void db.exec(`INSERT INTO ${table} (rowid, body) VALUES (1000000, 'word')`);

  it("lets others put, change and delete meanwhile, and finds exactly what there is in the end (ST-17)", async () => {
    const file = join(temporaryFolder(), "store.sqlite");
    const [mine, theirs] = [openStore(file), openStore(file)];
    for (let n = 0; n < 1000; n += 1) await theirs.store.put(["n"], `k${n}`, { text: `word old${n}` });
    spoil(mine.db, "item_text");
    const rebuild = { isDone: false };
    const rebuilding = rebuildTextIndex(mine.db).then(() => (rebuild.isDone = true));
    let rounds = 0;
    for (; !rebuild.isDone; rounds += 1) {
      await theirs.store.put(["n"], `k${rounds}`, { text: `word new${rounds}` });
      await theirs.store.put(["n"], `k${rounds}`, { text: `word newer${rounds}` });
      await theirs.store.delete(["n"], `k${999 - rounds}`);
      await theirs.store.put(["n"], `more${rounds}`, { text: "word" });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await rebuilding;
    expect(rounds).toBeGreaterThan(2);
    const keys = async (query: string): Promise<string[]> =>
      (await theirs.store.search(["n"], { query, limit: 5000 })).map(({ key }) => key);
    expect(await keys("word")).toHaveLength(1000);
    expect(await keys("newer0")).toEqual(["k0"]);
    expect(await keys("old0")).toEqual([]);
    expect(await keys("new0")).toEqual([]);
    expect(await keys("old999")).toEqual([]);
    expect(await keys("old500")).toEqual(["k500"]);
    await theirs.store.put(["n"], "k500", { text: "something else" });
    expect(await keys("old500")).toEqual([]);
    expect(theirs.db.pragma("integrity_check", { simple: true })).toBe("ok");
    const left = theirs.db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'item_text_new%'").all();
    expect(left).toEqual([]);
  });

  it.each([
    ["item_text", "n"],
    ["fact_text", "memory"],
    ["passage_text", "evidence"],
  ])("is built again where a crash left one half built: %s", async (table, root) => {
    const file = join(temporaryFolder(), "store.sqlite");
    const { db, store } = openStore(file);
    for (let n = 0; n < 300; n += 1) await store.put([root], `k${n}`, { text: `word ${n}` });
    for (const other of ["n", "memory", "evidence"].filter((one) => one !== root))
      await store.put([other], "beside", { text: "word beside" });
    spoil(db, table);
    const crash = new Error("crash");
    const cutOff = rebuildTextIndex(db, {
      afterStep: () => {
        throw crash;
      },
    });
    await expect(cutOff).rejects.toBe(crash);
    await store.put([root], "k1", { text: "word changed" });
    await rebuildTextIndex(db);
    expect(textIndexState(db)).toEqual({ indexed: 302, missing: 0, extra: 0, damage: [] });
    expect(await store.search([root], { query: "word", limit: 1000 })).toHaveLength(300);
    expect(await store.search([root], { query: "changed" })).toHaveLength(1);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  });
});

describe("turns during a repair", () => {
  it("are answered and kept (ST-17)", async () => {
    const home = await homeWith("one");
    change(home.databases.store, "INSERT INTO item_text (item_text) VALUES ('delete-all')");
    const lily = await openLily(home);
    const [{ steps }, answer] = await Promise.all([repairOf(home), lily.say("two")]);
    expect(answer).not.toBe("");
    expect(steps.filter(({ state }) => state === "failed")).toEqual([]);
    expect(await lily.said()).toEqual(["one", "two"]);
    await lily.close();
    expect(notOk((await examineHome(home, later)).checks)).toEqual({});
  });
});
