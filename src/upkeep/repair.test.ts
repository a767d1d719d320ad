import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { examineHome, repair, type RepairStep } from "./examine-home.ts";
import type { Home } from "./home.ts";
import { damageText } from "./testing/damage-file.ts";
import { homeWith, openLily, saidIn } from "./testing/make-home.ts";
import { notOk } from "./testing/rows.ts";

const clock = createManualClock(Date.now());

async function repairOf(home: Home): Promise<{ steps: RepairStep[]; backup: string }> {
  const { checks } = await examineHome(home, clock);
  const backup = join(temporaryFolder(), "backup");
  return { steps: await repair({ home, folder: backup, program: "1", clock }, checks), backup };
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
    expect(steps.map(({ state }) => state)).toEqual(["done", "nothing", "nothing"]);
  });

  it.each(["item_text", "fact_text", "passage_text"])("makes a text index anew: %s", async (name) => {
    const home = await homeWith("one walnut", "/remember walnuts are nuts", "/new", "two");
    change(home.databases.store, `INSERT INTO ${name} (${name}) VALUES ('delete-all')`);
    change(home.databases.store, `INSERT INTO ${name} (rowid, body) VALUES (4711, 'nothing')`);
    const { steps } = await repairOf(home);
    expect(didIn(steps, "text index")).toMatch(/^made anew from \d+ texts$/u);
    expect(notOk((await examineHome(home, clock)).checks)).toEqual({});
    const lily = await openLily(home);
    expect(await lily.say("/recall walnut")).toContain("one walnut");
    expect(await lily.say("/forget walnuts --yes")).not.toBe("");
    await lily.close();
  });

  it("makes pointers to sessions and turns anew (R-9)", async () => {
    const home = await homeWith("one", "/new", "two");
    for (const path of ["deliveries.%", "session-index.%"]) {
      change(
        home.databases.store,
        "DELETE FROM items WHERE namespace_id IN (SELECT id FROM namespaces WHERE path LIKE ?)",
        path,
      );
    }
    const { steps } = await repairOf(home);
    expect(didIn(steps, "pointers")).toBe("made 4 pointers anew");
    expect(notOk((await examineHome(home, clock)).checks)).toEqual({});
    expect(await saidIn(home)).toEqual(["one", "two"]);
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

  it("lets turns be answered and kept meanwhile (ST-17)", async () => {
    const home = await homeWith("one");
    change(home.databases.store, "INSERT INTO item_text (item_text) VALUES ('delete-all')");
    const lily = await openLily(home);
    const [{ steps }, answer] = await Promise.all([repairOf(home), lily.say("two")]);
    expect(answer).not.toBe("");
    expect(steps.filter(({ state }) => state === "failed")).toEqual([]);
    expect(await lily.said()).toEqual(["one", "two"]);
    await lily.close();
    expect(notOk((await examineHome(home, clock)).checks)).toEqual({});
  });
});
