import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openChain } from "#src/sessions/chain.ts";
import { EMPTY_HEAD, linkTurn } from "#src/sessions/seal.ts";
import { turnBody } from "#src/sessions/testing/turn-body.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { openSqliteBackend } from "./sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "./store-session-repository.ts";

const AT = "2026-03-01T09:00:00.000Z";
const OWNER = "local";

/** Keys `a`, `b` and `c` in a file, each with one session of three turns. */
async function openFile() {
  const folder = mkdtempSync(join(tmpdir(), "lily-damaged-"));
  const storePath = join(folder, "store.sqlite");
  const checkpointPath = join(folder, "checkpoints.sqlite");
  const backend = openSqliteBackend({ storePath, checkpointPath, clock: createManualClock(Date.parse(AT)) });
  onTestFinished(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });
  const repository = createStoreSessionRepository(backend.store);
  for (const sessionKey of ["a", "b", "c"]) {
    const sessionId = `s-${sessionKey}`;
    const ref = { owner: OWNER, sessionKey };
    await repository.writeChain(openChain({ ...ref, sessionId, at: AT, deliveryId: "d", textHash: "t" }));
    let head = EMPTY_HEAD;
    for (const turn of [1, 2, 3]) {
      const record = linkTurn(turnBody({ sessionId, turn }), { head, salt: "s" });
      await repository.writeTurn({ ...ref, sessionId }, record);
      ({ head } = record);
    }
  }
  const change = (sql: string): void => {
    const db = new Database(storePath);
    db.exec(sql);
    db.close();
  };
  return { repository, change };
}

const item = (path: string, key: string): string =>
  `key = '${key}' AND namespace_id = (SELECT id FROM namespaces WHERE path LIKE '${path}')`;

describe("one damaged item", () => {
  it.each([
    ["cut", "UPDATE items SET value = substr(value, 1, 40)"],
    ["no object", "UPDATE items SET value = 'null'"],
    ["empty", "UPDATE items SET value = ''"],
  ])("of a chain, which is %s, is named with its key, and the other keys go on (F-7)", async (_what, sql) => {
    const { repository, change } = await openFile();
    change(`${sql} WHERE ${item("sessions.local.b.%", "chain")}`);
    const damaged: string[] = [];
    const chains = await repository.listChains(OWNER, ({ problem }) => damaged.push(problem));
    expect(chains.map(({ sessionKey }) => sessionKey)).toEqual(["a", "c"]);
    expect(damaged).toEqual([expect.stringContaining('the key "b"')]);
    const { ok, sessions, problems } = await verifyOwner(repository, OWNER);
    expect([ok, sessions]).toEqual([false, 2]);
    expect(problems[0]?.problem).toContain('the key "b"');
    await expect(repository.readChain({ owner: OWNER, sessionKey: "b" })).rejects.toMatchObject({
      code: "record_invalid",
    });
    expect(await repository.readChain({ owner: OWNER, sessionKey: "a" })).toBeDefined();
  });

  it("of a chain, which is missing beside its turns, does not begin the key anew (F-7)", async () => {
    const { repository, change } = await openFile();
    change(`DELETE FROM items WHERE ${item("sessions.local.b.%", "chain")}`);
    await expect(repository.readChain({ owner: OWNER, sessionKey: "b" })).rejects.toMatchObject({
      code: "record_invalid",
      message: expect.stringContaining('the key "b" is missing') as unknown,
    });
    expect(await repository.readChain({ owner: OWNER, sessionKey: "new" })).toBeUndefined();
    const { ok, sessions, problems } = await verifyOwner(repository, OWNER);
    expect([ok, sessions, problems.length]).toEqual([false, 2, 1]);
  });

  it("of a turn, which is cut, is named with its number, and all others are verified (F-7)", async () => {
    const { repository, change } = await openFile();
    change(`UPDATE items SET value = substr(value, 1, 40) WHERE ${item("history.local.b.%", "00000002")}`);
    expect(await repository.lastStoredTurn({ owner: OWNER, sessionKey: "b", sessionId: "s-b" })).toBe(3);
    const { sessions, problems } = await verifyOwner(repository, OWNER);
    expect(sessions).toBe(3);
    expect(problems.map(({ sessionKey, turn }) => [sessionKey, turn])).toContainEqual(["b", 2]);
    expect(problems.every(({ sessionKey }) => sessionKey === "b")).toBe(true);
  });
});

describe("a gap in a transcript", () => {
  it.each([[[2]], [[1]], [[1, 2]]])("of turns %j does not hide what is behind it (R-4)", async (lost) => {
    const { repository, change } = await openFile();
    for (const turn of lost) change(`DELETE FROM items WHERE ${item("history.local.b.%", `0000000${turn}`)}`);
    const chain = await repository.readChain({ owner: OWNER, sessionKey: "b" });
    if (chain === undefined) throw new Error("no chain");
    expect(await repository.lastStoredTurn({ ...chain, sessionId: "s-b" })).toBe(3);
    const shown = await newestTurns(repository, chain, { sessionId: "s-b", count: 10 });
    expect(shown.map(({ turn }) => turn)).toEqual([1, 2, 3].filter((turn) => !lost.includes(turn)));
  });
});
