import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { chainNamespace, historyNamespace, turnItemKey } from "#src/storage/session-namespaces.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { chainSchema, openChain, rotateChain, sealEntry, type Chain, type ChainEntry } from "./chain.ts";
import { EMPTY_HEAD, linkTurn, textHashOf } from "./seal.ts";
import { type TurnBody, type TurnRecord } from "./turn-record.ts";
import { verifyOwner, type VerifyReport } from "./verify.ts";

const AT = "2026-03-01T09:00:00.000Z";
const KEY = { owner: "local", sessionKey: "cli:main" };
const TURNS = [4, 3, 3];
const IDS = ["s1", "s2", "s3"] as const;

/** A turn with every optional part that a turn can have. */
function bodyOf(sessionId: string, turn: number): TurnBody {
  const text = `text ${turn} of ${sessionId}`;
  return {
    v: 1,
    sessionId,
    turn,
    kind: "chat",
    status: "completed",
    deliveryId: `d-${sessionId}-${turn}`,
    textHash: textHashOf(text),
    at: AT,
    messages: [
      { role: "user", content: text, timestamp: AT },
      { role: "assistant", content: "", toolCalls: [{ id: "c", name: "n", arguments: "{}" }], timestamp: AT },
      { role: "tool", content: "found", toolCallId: "c", timestamp: AT },
      { role: "assistant", content: `answer ${turn}`, timestamp: AT },
    ],
    units: [{ role: "Fact", topic: "t", claim: "c" }],
    reply: {
      announcement: "a",
      notice: "n",
      envelope: { ok: true, code: "x", message: "m", next: "n", data: { deep: [{ list: [1, null] }] } },
    },
    explanation: {
      requestId: "r",
      solver: "symbolic",
      verdict: { action: "stay", reason: "withinWindow", idleMs: 5, dueAt: AT },
      receipt: { budgetTokens: 10, tokens: { system: 3 }, turns: [{ sessionId, from: 1, to: 2 }] },
      recalled: [{ sessionId: "s0", turn: 1, at: AT, score: 0.5, rationale: "why" }],
    },
  };
}

function transcriptOf(sessionId: string, turns: number): TurnRecord[] {
  const records: TurnRecord[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const head = records.at(-1)?.head ?? EMPTY_HEAD;
    records.push(linkTurn(bodyOf(sessionId, turn), { head, salt: `salt-${turn}` }));
  }
  return records;
}

/** A repository with three sessions under one key, the last of them open, and ways past it to what is stored. */
async function openArchive() {
  const { store } = createMemoryBackend({ clock: createManualClock(Date.parse(AT)) });
  const repository = createStoreSessionRepository(store);
  const transcripts = IDS.map((id, index) => transcriptOf(id, TURNS[index] ?? 0));
  let chain = openChain({ ...KEY, sessionId: IDS[0], at: AT, deliveryId: "d1", textHash: "t1" });
  for (const [index, sessionId] of [IDS[1], IDS[2]].entries()) {
    chain = rotateChain(chain, {
      sessionId,
      at: AT,
      deliveryId: `d${index + 2}`,
      textHash: `t${index + 2}`,
      verdict: { action: "rotate", trigger: "idle", idleMs: 2, limitMs: 1, dueAt: AT },
      turns: TURNS[index] ?? 0,
      head: transcripts[index]?.at(-1)?.head ?? "",
      carried: { activeAgent: "lily", model: null, rollover: { idle: { limit: 5_000 } }, toldNoModel: false },
      continues: [IDS[index] ?? ""],
    });
  }
  await repository.writeChain(chain);
  for (const [index, sessionId] of IDS.entries())
    for (const record of transcripts[index] ?? []) await repository.writeTurn({ ...KEY, sessionId }, record);
  return {
    repository,
    chain,
    verify: () => verifyOwner(repository, KEY.owner),
    turn: (sessionId: string, turn: number) =>
      transcripts[IDS.findIndex((id) => id === sessionId)]?.[turn - 1] as TurnRecord,
    putTurn: (sessionId: string, turn: number, value: object | null) =>
      value === null
        ? store.delete(historyNamespace({ ...KEY, sessionId }), turnItemKey(turn))
        : store.put(historyNamespace({ ...KEY, sessionId }), turnItemKey(turn), { ...value }),
    putChain: (value: object) => store.put(chainNamespace(KEY), "chain", { ...value }, false),
  };
}

type Path = readonly (string | number)[];

/** Every path of `value` that ends in something that is neither a list nor an object. */
function leafPaths(value: unknown, before: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [before];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, item]) => leafPaths(item, [...before, key]));
}

function changedAt<T>(value: T, path: Path, change: (leaf: unknown) => unknown): T {
  const copy = structuredClone(value);
  let parent = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>;
  const last = path.at(-1) as string;
  parent[last] = change(parent[last]);
  return copy;
}

/** Another value of the same type. */
function altered(leaf: unknown): unknown {
  if (typeof leaf === "string") return `${leaf}x`;
  if (typeof leaf === "number") return leaf + 1;
  return leaf === null ? "x" : leaf !== true;
}

const turnsNamed = (report: VerifyReport): string[] => [
  ...new Set(report.problems.map(({ sessionId, turn }) => `${sessionId}/${turn ?? "-"}`)),
];

const entryAt = (chain: Chain, index: number): ChainEntry => chain.sessions[index] as ChainEntry;

describe("an untouched archive", () => {
  it("verifies, and says how much was read", async () => {
    const { verify } = await openArchive();
    expect(await verify()).toEqual({
      ok: true,
      sessions: 3,
      turns: 10,
      erased: { turns: 0, titles: 0 },
      problems: [],
    });
  });

  it("verifies by key as well as by owner", async () => {
    const { repository } = await openArchive();
    expect(await verifyOwner(repository, KEY.owner, KEY.sessionKey)).toMatchObject({ ok: true, turns: 10 });
  });

  it("is empty for an owner or key that was never used", async () => {
    const { repository } = await openArchive();
    const nothing = { ok: true, sessions: 0, turns: 0, erased: { turns: 0, titles: 0 }, problems: [] };
    expect(await verifyOwner(repository, "nobody")).toEqual(nothing);
    expect(await verifyOwner(repository, KEY.owner, "cli:other")).toEqual(nothing);
  });

  it("verifies with sessions that were sealed without a turn", async () => {
    const { repository, putChain } = await openArchive();
    const first = openChain({ ...KEY, sessionId: "e1", at: AT, deliveryId: "d", textHash: "t" });
    const chain = rotateChain(first, {
      sessionId: "e2",
      at: AT,
      deliveryId: "d2",
      textHash: "t2",
      verdict: { action: "rotate", trigger: "command", command: "/new" },
      turns: 0,
      head: EMPTY_HEAD,
      carried: { activeAgent: "lily", model: null, toldNoModel: false },
    });
    await putChain(chain);
    expect(await verifyOwner(repository, KEY.owner, KEY.sessionKey)).toEqual({
      ok: true,
      sessions: 2,
      turns: 0,
      erased: { turns: 0, titles: 0 },
      problems: [],
    });
  });
});

describe("a changed turn", () => {
  const paths = leafPaths(linkTurn(bodyOf("s1", 2), { head: EMPTY_HEAD, salt: "salt" }));

  it("is found and named with its session, whichever field of whichever sealed turn it is", async () => {
    const places = ["s1/1", "s1/2", "s1/3", "s1/4", "s2/1", "s2/2", "s2/3"];
    const archive = await openArchive();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.constantFrom(...places), async (path, place) => {
        const [id = "", number] = place.split("/");
        const turn = Number(number);
        const before = archive.turn(id, turn);
        await archive.putTurn(id, turn, changedAt(before, path, altered));
        const report = await archive.verify();
        await archive.putTurn(id, turn, before);
        expect(report.ok).toBe(false);
        expect(turnsNamed(report)).toContain(place);
      }),
      { numRuns: 150 },
    );
    expect((await archive.verify()).ok).toBe(true);
  });

  it.each(paths.map((path) => [path.join("."), path] as const))("is found at %s", async (_name, path) => {
    const archive = await openArchive();
    await archive.putTurn("s1", 2, changedAt(archive.turn("s1", 2), path, altered));
    const { problems } = await archive.verify();
    expect(problems).toContainEqual(
      expect.objectContaining({ sessionKey: "cli:main", sessionId: "s1", ordinal: 1, turn: 2 }),
    );
  });

  it("is found in the open session too, whether or not its record still reads as one", async () => {
    const archive = await openArchive();
    const before = archive.turn("s3", 2);
    const unnoticed: string[] = [];
    for (const path of paths) {
      await archive.putTurn("s3", 2, changedAt(before, path, altered));
      if (!turnsNamed(await archive.verify()).includes("s3/2")) unnoticed.push(path.join("."));
    }
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
    const archive = await openArchive();
    await archive.putTurn("s2", 3, change(archive.turn("s2", 3)));
    expect(turnsNamed(await archive.verify())).toContain("s2/3");
  });

  it("is the only one that is named when only its text was changed", async () => {
    const archive = await openArchive();
    await archive.putTurn("s1", 2, changedAt(archive.turn("s1", 2), ["messages", 0, "content"], altered));
    expect(turnsNamed(await archive.verify())).toEqual(["s1/2"]);
  });

  it("is named beside others that were changed", async () => {
    const archive = await openArchive();
    for (const [id, turn] of [
      ["s1", 1],
      ["s1", 3],
      ["s3", 2],
    ] as const)
      await archive.putTurn(id, turn, changedAt(archive.turn(id, turn), ["at"], altered));
    expect(turnsNamed(await archive.verify())).toEqual(["s1/1", "s1/3", "s3/2"]);
  });

  it("is found when its leaf and head were recomputed, because the next one does not follow", async () => {
    const archive = await openArchive();
    const forged = { ...bodyOf("s1", 2), at: "2020-01-01T00:00:00.000Z" };
    await archive.putTurn("s1", 2, linkTurn(forged, { head: archive.turn("s1", 1).head, salt: "new" }));
    expect(turnsNamed(await archive.verify())).toEqual(["s1/3"]);
  });

  it("is found at the end of a sealed session when its leaf and head were recomputed", async () => {
    const archive = await openArchive();
    const forged = { ...bodyOf("s1", 4), at: "2020-01-01T00:00:00.000Z" };
    await archive.putTurn("s1", 4, linkTurn(forged, { head: archive.turn("s1", 3).head, salt: "new" }));
    const { problems } = await archive.verify();
    expect(problems).toMatchObject([
      { sessionId: "s1", turn: null, problem: "its transcript is not the one that was sealed" },
    ]);
  });
});

describe("a rewritten past", () => {
  /** The chain with `forged` as the whole transcript of session `index`, resealed. */
  function resealed(chain: Chain, index: number, forged: readonly TurnRecord[]): Chain {
    const entry = entryAt(chain, index);
    const transcript = { turns: forged.length, head: forged.at(-1)?.head ?? EMPTY_HEAD };
    const sealed = { at: AT, ...transcript, seal: sealEntry(chain, entry, { at: AT, ...transcript }) };
    return { ...chain, sessions: chain.sessions.with(index, { ...entry, sealed }) };
  }

  /** The tail of s1 from `turn` on, with another text and links that fit. */
  function forgedTail(archive: Awaited<ReturnType<typeof openArchive>>, turn: number): TurnRecord[] {
    const records: TurnRecord[] = [];
    for (let number = turn; number <= 4; number += 1) {
      const head = records.at(-1)?.head ?? (turn === 1 ? EMPTY_HEAD : archive.turn("s1", turn - 1).head);
      records.push(linkTurn({ ...bodyOf("s1", number), deliveryId: "forged" }, { head, salt: "forged" }));
    }
    return records;
  }

  it.each([1, 2, 4])("from turn %i on, links and seal recomputed, shows in the successor", async (from) => {
    const archive = await openArchive();
    const tail = forgedTail(archive, from);
    for (const record of tail) await archive.putTurn("s1", record.turn, record);
    const kept = Array.from({ length: from - 1 }, (_, index) => archive.turn("s1", index + 1));
    await archive.putChain(resealed(archive.chain, 0, [...kept, ...tail]));
    expect((await archive.verify()).problems).toMatchObject([
      { sessionId: "s2", ordinal: 2, turn: null, problem: "the session before it has another seal now" },
    ]);
  });

  it("shows in the successor's own seal when the link to it was changed as well", async () => {
    const archive = await openArchive();
    const forged = forgedTail(archive, 1);
    for (const record of forged) await archive.putTurn("s1", record.turn, record);
    const chain = resealed(archive.chain, 0, forged);
    const previousSeal = entryAt(chain, 0).sealed?.seal ?? null;
    await archive.putChain({
      ...chain,
      sessions: chain.sessions.with(1, { ...entryAt(chain, 1), previousSeal }),
    });
    expect((await archive.verify()).problems).toMatchObject([
      { sessionId: "s2", turn: null, problem: "its entry is not the one that was sealed" },
    ]);
  });

  it("shows when the end of a sealed session was cut off and the rest was sealed again", async () => {
    const archive = await openArchive();
    await archive.putTurn("s1", 4, null);
    await archive.putChain(
      resealed(
        archive.chain,
        0,
        [1, 2, 3].map((turn) => archive.turn("s1", turn)),
      ),
    );
    expect(turnsNamed(await archive.verify())).toEqual(["s2/-"]);
  });
});

describe("turns that were removed, added or moved", () => {
  it.each([1, 2, 3, 4])("are found when turn %i of a sealed session is gone", async (turn) => {
    const archive = await openArchive();
    await archive.putTurn("s1", turn, null);
    const { problems } = await archive.verify();
    expect(problems).toContainEqual(
      expect.objectContaining({ sessionId: "s1", turn, problem: "it is missing" }),
    );
  });

  it.each([1, 2])(
    "are found when turn %i of the open session is gone and later ones are there",
    async (turn) => {
      const archive = await openArchive();
      await archive.putTurn("s3", turn, null);
      const { problems } = await archive.verify();
      expect(problems).toContainEqual(
        expect.objectContaining({ sessionId: "s3", turn, problem: "it is missing" }),
      );
    },
  );

  it.each([1, 2, 3])("are found when turn %i of the open session is no record any more", async (turn) => {
    const archive = await openArchive();
    await archive.putTurn("s3", turn, { nonsense: true });
    expect(turnsNamed(await archive.verify())).toContain(`s3/${turn}`);
  });

  it("are found when a whole sealed transcript is gone", async () => {
    const archive = await openArchive();
    for (const turn of [1, 2, 3]) await archive.putTurn("s2", turn, null);
    expect(turnsNamed(await archive.verify())).toEqual(["s2/1", "s2/2", "s2/3", "s2/-"]);
  });

  it("are found when a turn was added to a sealed session, even one that fits", async () => {
    const archive = await openArchive();
    const added = linkTurn(bodyOf("s1", 5), { head: archive.turn("s1", 4).head, salt: "new" });
    await archive.putTurn("s1", 5, added);
    expect((await archive.verify()).problems).toMatchObject([
      { sessionId: "s1", turn: null, problem: "a turn was added after it was sealed" },
    ]);
  });

  it("are found when a turn that does not fit was added to the open session", async () => {
    const archive = await openArchive();
    await archive.putTurn("s3", 4, linkTurn(bodyOf("s3", 4), { head: "elsewhere", salt: "new" }));
    expect(turnsNamed(await archive.verify())).toEqual(["s3/4"]);
  });

  it.each(["s1", "s3"])("are found when two turns of %s changed places", async (id) => {
    const archive = await openArchive();
    await archive.putTurn(id, 2, archive.turn(id, 3));
    await archive.putTurn(id, 3, archive.turn(id, 2));
    const named = turnsNamed(await archive.verify());
    expect(named).toContain(`${id}/2`);
    expect(named).toContain(`${id}/3`);
  });

  it("are found when a turn was copied from another session", async () => {
    const archive = await openArchive();
    await archive.putTurn("s2", 2, archive.turn("s1", 2));
    expect(turnsNamed(await archive.verify())).toContain("s2/2");
  });

  it("are found when two turns changed places and were numbered to fit", async () => {
    const archive = await openArchive();
    await archive.putTurn("s1", 2, { ...archive.turn("s1", 3), turn: 2 });
    await archive.putTurn("s1", 3, { ...archive.turn("s1", 2), turn: 3 });
    const named = turnsNamed(await archive.verify());
    expect(named).toEqual(expect.arrayContaining(["s1/2", "s1/3"]));
  });
});

describe("a changed chain", () => {
  it("is found at every field of a sealed session, and the session or its successor is named", async () => {
    const archive = await openArchive();
    const paths = leafPaths(entryAt(archive.chain, 1));
    expect(paths.length).toBeGreaterThan(15);
    const unnoticed: string[] = [];
    for (const path of paths) {
      const changed = changedAt(archive.chain, ["sessions", 1, ...path], altered);
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
    const archive = await openArchive();
    const entry = { ...entryAt(archive.chain, 1), ...change };
    await archive.putChain({ ...archive.chain, sessions: archive.chain.sessions.with(1, entry) });
    expect(turnsNamed(await archive.verify())).toContain("s2/-");
  });

  it("is found when a sealed session is opened again", async () => {
    const archive = await openArchive();
    const { sealed: _sealed, ...open } = entryAt(archive.chain, 1);
    await archive.putChain({ ...archive.chain, sessions: archive.chain.sessions.with(1, open) });
    const { problems } = await archive.verify();
    expect(problems.map(({ problem }) => problem)).toContain("it is neither latest nor sealed");
  });

  it.each([0, 1])("is found when session %i is taken out of it", async (index) => {
    const archive = await openArchive();
    await archive.putChain({ ...archive.chain, sessions: archive.chain.sessions.toSpliced(index, 1) });
    expect(turnsNamed(await archive.verify())).toContain(`${IDS[index + 1]}/-`);
  });

  it("is found when its sessions change places", async () => {
    const archive = await openArchive();
    const [first, second, third] = archive.chain.sessions;
    await archive.putChain({ ...archive.chain, sessions: [second, first, third] });
    expect((await archive.verify()).ok).toBe(false);
  });

  it.each(["s1", "s2", "nowhere"])("is found when latest points to %s", async (latest) => {
    const archive = await openArchive();
    await archive.putChain({ ...archive.chain, latest });
    const named = turnsNamed(await archive.verify());
    expect(named).toContain("s3/-");
    if (latest !== "nowhere") expect(named).toContain(`${latest}/-`);
  });

  it("is found when it was given another owner or key", async () => {
    const archive = await openArchive();
    await archive.putChain({ ...archive.chain, sessionKey: "cli:other" });
    expect((await archive.verify()).ok).toBe(false);
    await archive.putChain({ ...archive.chain, owner: "other" });
    expect((await archive.verify()).ok).toBe(false);
  });

  it("does not keep the other chains of its owner from being verified when it cannot be read", async () => {
    const archive = await openArchive();
    await archive.repository.writeChain(
      openChain({
        owner: KEY.owner,
        sessionKey: "another",
        sessionId: "x",
        at: AT,
        deliveryId: "d",
        textHash: "t",
      }),
    );
    await archive.putChain({ nonsense: true });
    expect(await archive.verify()).toMatchObject({ ok: false, sessions: 1 });
  });

  it("is a problem and not an exception when it cannot be read", async () => {
    const archive = await openArchive();
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
    const { store } = createMemoryBackend({ clock: createManualClock(Date.parse(AT)) });
    const repository = createStoreSessionRepository(store);
    for (const record of transcriptOf("s1", 2))
      await repository.writeTurn({ ...KEY, sessionId: "s1" }, record);
    expect(await verifyOwner(repository, KEY.owner)).toMatchObject({
      ok: false,
      problems: [{ problem: "its turns are stored, but no chain has the session" }],
    });
  });
});
