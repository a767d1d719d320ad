import { afterEach, describe, expect, it } from "vitest";
import { chainNamespace } from "#src/storage/session-items.ts";
import { chainSchema, openChain, rotateChain, sealEntry, type Chain, type ChainEntry } from "./chain.ts";
import { EMPTY_HEAD, linkTurn } from "./seal.ts";
import {
  AT,
  changedAt,
  fullBody,
  IDS,
  KEY,
  leafPaths,
  NUMBERS,
  openArchive,
  turnsNamed,
} from "./testing/archive.ts";
import { type TurnRecord } from "./turn-record.ts";
import { verifyOwner } from "./verify.ts";

const archive = await openArchive();
const chain = await archive.reset();
afterEach(() => archive.reset());

const entryAt = (chain: Chain, index: number): ChainEntry => chain.sessions[index] as ChainEntry;

describe("an untouched archive", () => {
  it("verifies, and says how much was read", async () => {
    expect(await archive.verify()).toEqual({
      ok: true,
      sessions: 3,
      turns: 10,
      erased: { turns: 0, titles: 0 },
      problems: [],
    });
  });

  it("verifies by key as well as by owner", async () => {
    expect(await verifyOwner(archive.repository, KEY.owner, KEY.sessionKey)).toMatchObject({
      ok: true,
      turns: 10,
    });
  });

  it("is empty for an owner or key that was never used", async () => {
    const nothing = { ok: true, sessions: 0, turns: 0, erased: { turns: 0, titles: 0 }, problems: [] };
    expect(await verifyOwner(archive.repository, "nobody")).toEqual(nothing);
    expect(await verifyOwner(archive.repository, KEY.owner, "cli:other")).toEqual(nothing);
  });

  it("verifies with sessions that were sealed without a turn", async () => {
    const first = openChain({ ...KEY, sessionId: "e1", at: AT, deliveryId: "d", textHash: "t" });
    const rotated = rotateChain(first, {
      sessionId: "e2",
      at: AT,
      deliveryId: "d2",
      textHash: "t2",
      verdict: { action: "rotate", trigger: "command", command: "/new" },
      turns: 0,
      head: EMPTY_HEAD,
      carried: { activeAgent: "lily", model: null, toldNoModel: false },
    });
    await archive.putChain(rotated);
    expect(await verifyOwner(archive.repository, KEY.owner, KEY.sessionKey)).toEqual({
      ok: true,
      sessions: 2,
      turns: 0,
      erased: { turns: 0, titles: 0 },
      problems: [],
    });
  });
});

describe("a changed turn", () => {
  const paths = leafPaths(archive.turn("s1", 2));

  it("is found and named, whichever field of whichever turn it is", async () => {
    const unnoticed: string[] = [];
    for (const [index, path] of paths.entries()) {
      const { sessionId = "", turn = 0 } = NUMBERS[index % NUMBERS.length] ?? {};
      await archive.putTurn(sessionId, turn, changedAt(archive.turn(sessionId, turn), path));
      if (!turnsNamed(await archive.verify()).includes(`${sessionId}/${turn}`))
        unnoticed.push(`${path.join(".")} of ${sessionId}/${turn}`);
      await archive.reset();
    }
    expect(paths.length).toBeGreaterThan(40);
    expect(unnoticed).toEqual([]);
  });

  it.each([
    ["a field is taken away", (record: TurnRecord) => ({ ...record, units: undefined })],
    ["a field is added", (record: TurnRecord) => ({ ...record, extra: 1 })],
    ["a message is taken away", (record: TurnRecord) => ({ ...record, messages: record.messages.slice(1) })],
    [
      "its messages change places",
      (record: TurnRecord) => ({ ...record, messages: record.messages.toReversed() }),
    ],
    ["it is no record at all", () => ({ nonsense: true })],
  ])("is found when %s", async (_what, change) => {
    await archive.putTurn("s2", 3, change(archive.turn("s2", 3)));
    expect(turnsNamed(await archive.verify())).toContain("s2/3");
  });

  it("is the only one that is named when only its text was changed", async () => {
    await archive.putTurn("s1", 2, changedAt(archive.turn("s1", 2), ["messages", "0", "content"]));
    expect(turnsNamed(await archive.verify())).toEqual(["s1/2"]);
  });

  it("is named beside others that were changed", async () => {
    for (const [id, turn] of [
      ["s1", 1],
      ["s1", 3],
      ["s3", 2],
    ] as const)
      await archive.putTurn(id, turn, changedAt(archive.turn(id, turn), ["at"]));
    expect(turnsNamed(await archive.verify())).toEqual(["s1/1", "s1/3", "s3/2"]);
  });

  it("is found when its leaf and head were recomputed, because the next one does not follow", async () => {
    const forged = { ...fullBody("s1", 2), at: "2020-01-01T00:00:00.000Z" };
    await archive.putTurn("s1", 2, linkTurn(forged, { head: archive.turn("s1", 1).head, salt: "new" }));
    expect(turnsNamed(await archive.verify())).toEqual(["s1/3"]);
  });

  it("is found at the end of a sealed session when its leaf and head were recomputed", async () => {
    const forged = { ...fullBody("s1", 4), at: "2020-01-01T00:00:00.000Z" };
    await archive.putTurn("s1", 4, linkTurn(forged, { head: archive.turn("s1", 3).head, salt: "new" }));
    const { problems } = await archive.verify();
    expect(problems).toMatchObject([
      { sessionId: "s1", turn: null, problem: "its transcript is not the one that was sealed" },
    ]);
  });
});

describe("a rewritten past", () => {
  /** The chain with `forged` as the whole transcript of the first session, resealed. */
  function resealed(forged: readonly TurnRecord[]): Chain {
    const entry = entryAt(chain, 0);
    const transcript = { turns: forged.length, head: forged.at(-1)?.head ?? EMPTY_HEAD };
    const sealed = { at: AT, ...transcript, seal: sealEntry(chain, entry, { at: AT, ...transcript }) };
    return { ...chain, sessions: chain.sessions.with(0, { ...entry, sealed }) };
  }

  /** The tail of s1 from `turn` on, with another text and links that fit. */
  function forgedTail(turn: number): TurnRecord[] {
    const records: TurnRecord[] = [];
    for (let number = turn; number <= 4; number += 1) {
      const head = records.at(-1)?.head ?? (turn === 1 ? EMPTY_HEAD : archive.turn("s1", turn - 1).head);
      records.push(linkTurn({ ...fullBody("s1", number), deliveryId: "forged" }, { head, salt: "forged" }));
    }
    return records;
  }

  it.each([1, 2, 4])("from turn %i on, links and seal recomputed, shows in the successor", async (from) => {
    const tail = forgedTail(from);
    for (const record of tail) await archive.putTurn("s1", record.turn, record);
    const kept = Array.from({ length: from - 1 }, (_, index) => archive.turn("s1", index + 1));
    await archive.putChain(resealed([...kept, ...tail]));
    expect((await archive.verify()).problems).toMatchObject([
      { sessionId: "s2", ordinal: 2, turn: null, problem: "the session before it has another seal now" },
    ]);
  });

  it("shows in the successor's own seal when the link to it was changed as well", async () => {
    const forged = forgedTail(1);
    for (const record of forged) await archive.putTurn("s1", record.turn, record);
    const rewritten = resealed(forged);
    const previousSeal = entryAt(rewritten, 0).sealed?.seal ?? null;
    await archive.putChain({
      ...rewritten,
      sessions: rewritten.sessions.with(1, { ...entryAt(rewritten, 1), previousSeal }),
    });
    expect((await archive.verify()).problems).toMatchObject([
      { sessionId: "s2", turn: null, problem: "its entry is not the one that was sealed" },
    ]);
  });

  it("shows when the end of a sealed session was cut off and the rest was sealed again", async () => {
    await archive.putTurn("s1", 4, null);
    await archive.putChain(resealed([1, 2, 3].map((turn) => archive.turn("s1", turn))));
    expect(turnsNamed(await archive.verify())).toEqual(["s2/-"]);
  });
});

describe("turns that were removed, added or moved", () => {
  it.each([1, 2, 3, 4])("are found when turn %i of a sealed session is gone", async (turn) => {
    await archive.putTurn("s1", turn, null);
    const { problems } = await archive.verify();
    expect(problems).toContainEqual(
      expect.objectContaining({ sessionId: "s1", turn, problem: "it is missing" }),
    );
  });

  it.each([1, 2])(
    "are found when turn %i of the open session is gone and later ones are there",
    async (turn) => {
      await archive.putTurn("s3", turn, null);
      const { problems } = await archive.verify();
      expect(problems).toContainEqual(
        expect.objectContaining({ sessionId: "s3", turn, problem: "it is missing" }),
      );
    },
  );

  it.each([1, 2, 3])("are found when turn %i of the open session is no record any more", async (turn) => {
    await archive.putTurn("s3", turn, { nonsense: true });
    expect(turnsNamed(await archive.verify())).toContain(`s3/${turn}`);
  });

  it("are found when a whole sealed transcript is gone", async () => {
    for (const turn of [1, 2, 3]) await archive.putTurn("s2", turn, null);
    expect(turnsNamed(await archive.verify())).toEqual(["s2/1", "s2/2", "s2/3", "s2/-"]);
  });

  it("are found when a turn was added to a sealed session, even one that fits", async () => {
    const added = linkTurn(fullBody("s1", 5), { head: archive.turn("s1", 4).head, salt: "new" });
    await archive.putTurn("s1", 5, added);
    expect((await archive.verify()).problems).toMatchObject([
      { sessionId: "s1", turn: null, problem: "a turn was added after it was sealed" },
    ]);
  });

  it("are found when a turn that does not fit was added to the open session", async () => {
    await archive.putTurn("s3", 4, linkTurn(fullBody("s3", 4), { head: "elsewhere", salt: "new" }));
    expect(turnsNamed(await archive.verify())).toEqual(["s3/4"]);
  });

  it.each(["s1", "s3"])("are found when two turns of %s changed places", async (id) => {
    await archive.putTurn(id, 2, archive.turn(id, 3));
    await archive.putTurn(id, 3, archive.turn(id, 2));
    const named = turnsNamed(await archive.verify());
    expect(named).toContain(`${id}/2`);
    expect(named).toContain(`${id}/3`);
  });

  it("are found when a turn was copied from another session", async () => {
    await archive.putTurn("s2", 2, archive.turn("s1", 2));
    expect(turnsNamed(await archive.verify())).toContain("s2/2");
  });

  it("are found when two turns changed places and were numbered to fit", async () => {
    await archive.putTurn("s1", 2, { ...archive.turn("s1", 3), turn: 2 });
    await archive.putTurn("s1", 3, { ...archive.turn("s1", 2), turn: 3 });
    const named = turnsNamed(await archive.verify());
    expect(named).toEqual(expect.arrayContaining(["s1/2", "s1/3"]));
  });
});

describe("a changed chain", () => {
  it("is found at every field of a sealed session, and the session or its successor is named", async () => {
    const paths = leafPaths(entryAt(chain, 1));
    expect(paths.length).toBeGreaterThan(15);
    const unnoticed: string[] = [];
    for (const path of paths) {
      const changed = changedAt(chain, ["sessions", "1", ...path]);
      // What is no chain any more is refused as a whole: see below.
      if (!chainSchema.safeParse(changed).success) continue;
      await archive.putChain(changed);
      const named = (await archive.verify()).problems.map(({ sessionId }) => sessionId);
      if (!named.includes(path[0] === "sessionId" ? "s2x" : "s2")) unnoticed.push(path.join("."));
    }
    expect(unnoticed).toEqual([]);
  });

  it.each([
    ["a title is added", { title: "x" }],
    ["what it continues is taken away", { continues: [] }],
    ["it has another number", { ordinal: 7 }],
  ])("is found in a sealed session when %s", async (_what, change) => {
    const entry = { ...entryAt(chain, 1), ...change };
    await archive.putChain({ ...chain, sessions: chain.sessions.with(1, entry) });
    expect(turnsNamed(await archive.verify())).toContain("s2/-");
  });

  it("is found when a sealed session is opened again", async () => {
    const { sealed: _sealed, ...open } = entryAt(chain, 1);
    await archive.putChain({ ...chain, sessions: chain.sessions.with(1, open) });
    const { problems } = await archive.verify();
    expect(problems.map(({ problem }) => problem)).toContain("it is neither latest nor sealed");
  });

  it.each([0, 1])("is found when session %i is taken out of it", async (index) => {
    await archive.putChain({ ...chain, sessions: chain.sessions.toSpliced(index, 1) });
    expect(turnsNamed(await archive.verify())).toContain(`${IDS[index + 1]}/-`);
  });

  it("is found when its sessions change places", async () => {
    const [first, second, third] = chain.sessions;
    await archive.putChain({ ...chain, sessions: [second, first, third] });
    expect((await archive.verify()).ok).toBe(false);
  });

  it.each(["s1", "s2", "nowhere"])("is found when latest points to %s", async (latest) => {
    await archive.putChain({ ...chain, latest });
    const named = turnsNamed(await archive.verify());
    expect(named).toContain("s3/-");
    if (latest !== "nowhere") expect(named).toContain(`${latest}/-`);
  });

  it("is found when it was given another owner or key", async () => {
    await archive.putChain({ ...chain, sessionKey: "cli:other" });
    expect((await archive.verify()).ok).toBe(false);
    await archive.putChain({ ...chain, owner: "other" });
    expect((await archive.verify()).ok).toBe(false);
  });

  it("does not keep the other chains of its owner from being verified when it cannot be read", async () => {
    const other = { owner: KEY.owner, sessionKey: "another" };
    await archive.repository.writeChain(
      openChain({ ...other, sessionId: "x", at: AT, deliveryId: "d", textHash: "t" }),
    );
    await archive.putChain({ nonsense: true });
    const report = await archive.verify();
    await archive.store.delete(chainNamespace(other), "chain");
    expect(report).toMatchObject({ ok: false, sessions: 1 });
  });

  it("is a problem and not an exception when it cannot be read", async () => {
    await archive.putChain({ nonsense: true });
    for (const key of [undefined, KEY.sessionKey]) {
      const report = await verifyOwner(archive.repository, KEY.owner, key);
      expect(report.ok).toBe(false);
      expect(report.problems[0]?.problem).toContain("is not what it should be");
    }
  });
});

describe("turns without a chain", () => {
  it("are found when the chain was removed, and named by where they are stored", async () => {
    await archive.store.delete(chainNamespace(KEY), "chain");
    const problem = "its turns are stored, but no chain has the session";
    expect(await archive.verify()).toMatchObject({ ok: false, problems: IDS.map(() => ({ problem })) });
  });
});
