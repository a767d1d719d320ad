import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { openLocalSessions } from "#graphs/session/local.ts";
import { openApp } from "#src/app/open-app.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { examineHome } from "./examine-home.ts";
import type { Home } from "./home.ts";
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

  it("names answered turns that went with the log of the store (R-4)", async () => {
    const home = await homeWith("one", "two", "three");
    change(home.databases.store, "DELETE FROM items WHERE key IN ('00000002', '00000003')");
    const { checks } = await examine(home);
    expect(rowOf(checks, "answered turns")).toMatchObject({
      state: "bad",
      found: expect.stringMatching(/turns 2 to 3 of session \S+ are not in the store any more/u),
    });
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

  it("looks at the conversations of every owner (F-6)", async () => {
    const home = await homeWith("one");
    for (const owner of ["ann", "bob"]) {
      const { deps, storage } = await openApp({ LILY_HOME: home.folder, LILY_OWNER: owner }, home.folder);
      const sessions = openLocalSessions(deps, storage, { keepTurns: 1 });
      await sessions.send({ owner, sessionKey: "cli:main", content: `hello of ${owner}` });
      await sessions.settled();
      await storage.close();
    }
    change(home.databases.store, "UPDATE items SET value = replace(value, 'hello of bob', 'hello of rob')");
    const seals = rowOf((await examine(home)).checks, "seals");
    expect(seals.found).toMatch(/^1 problem in 3 sessions with 3 turns: .*owner bob/u);
  });

  it("finds a chain that cannot be read", async () => {
    const home = await homeWith("one");
    change(home.databases.store, "UPDATE items SET value = '{}' WHERE key = 'chain'");
    expect(rowOf((await examine(home)).checks, "seals").state).toBe("bad");
  });

  it.each([
    ["chain", "sessions.ann.%", "seals"],
    ["turn", "history.ann.%", "seals"],
    ["delivery", "deliveries.ann.%", "deliveries"],
    ["place in the index", "session-index.%", "session index"],
  ])("of a %s that is cut names it, and looks at the others (F-7)", async (_what, path, row) => {
    const home = await homeWith("one");
    const { deps, storage } = await openApp({ LILY_HOME: home.folder }, home.folder);
    const sessions = openLocalSessions(deps, storage, { keepTurns: 1 });
    await sessions.send({ owner: "ann", sessionKey: "k", content: "two" });
    await sessions.settled();
    await storage.close();
    change(
      home.databases.store,
      `UPDATE items SET value = substr(value, 1, 30) WHERE namespace_id IN
         (SELECT id FROM namespaces WHERE path LIKE ?)`,
      path,
    );
    const { checks } = await examine(home);
    expect(Object.keys(notOk(checks))).toEqual([row]);
    expect(rowOf(checks, "seals").found).toMatch(/[12] sessions? with/u);
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

  it("names a turn that is stored and not found by its delivery (R-9)", async () => {
    const home = await homeWith("one", "two");
    change(
      home.databases.store,
      "DELETE FROM items WHERE namespace_id IN (SELECT id FROM namespaces WHERE path LIKE ?)",
      "deliveries.%",
    );
    const { checks } = await examine(home);
    expect(notOk(checks)).toEqual({ deliveries: "warn" });
    expect(rowOf(checks, "deliveries").found).toMatch(/^2 of the turns/u);
  });

  it.each([
    ["missing", (file: string) => rmSync(file)],
    ["empty", (file: string) => writeFileSync(file, "")],
  ])("names a store that is %s beside checkpoints of conversations (F-1)", async (word, spoil) => {
    const home = await homeWith("one");
    spoil(home.databases.store);
    const { checks } = await examine(home);
    expect(notOk(checks)).toEqual({ "store file": "bad" });
    expect(rowOf(checks, "store file")).toMatchObject({
      code: "storage_damaged",
      found: expect.stringContaining(`is ${word}`) as unknown,
    });
  });

  it("takes lost checkpoints for a small loss", async () => {
    const home = await homeWith("one");
    rmSync(home.databases.checkpoints);
    expect(notOk((await examine(home)).checks)).toEqual({ "checkpoint file": "warn" });
  });

  it.skipIf(process.getuid?.() === 0)(
    "names a folder that may not be looked into as that (R-9)",
    async () => {
      const home = await homeWith("one");
      chmodSync(join(home.databases.store, ".."), 0);
      const { checks } = await examine(home);
      chmodSync(join(home.databases.store, ".."), 0o700);
      expect(notOk(checks)).toEqual({ "store file": "bad" });
      expect(rowOf(checks, "store file")).toMatchObject({ code: "storage_readonly" });
    },
  );

  it("names what a restore that was cut off has left beside the home folder", async () => {
    const home = await homeWith("one");
    mkdirSync(`${home.folder}.restore-1`);
    expect(notOk((await examine(home)).checks)).toEqual({ restore: "warn" });
  });

  it("tells what takes the space: kinds add up to the files", async () => {
    const home = await homeWith("one", "two");
    const { usage } = await examine(home);
    const kinds = new Map(usage.map(({ kind, count }) => [kind, count]));
    expect(kinds.get("history")).toBe(2);
    expect(kinds.get("deliveries")).toBe(2);
    const total = Object.values(home.databases).reduce((sum, file) => sum + readFileSync(file).length, 0);
    expect(usage.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(total);
  });
});
