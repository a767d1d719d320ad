import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chainSchema,
  entryOf,
  latestEntry,
  lineageOf,
  openChain,
  openedBy,
  rotateChain,
  sealEntry,
  type Chain,
  type Rotation,
} from "./chain.ts";

const AT = "2026-03-01T09:00:00.000Z";

const first = (): Chain =>
  openChain({
    owner: "local",
    sessionKey: "cli:main",
    sessionId: "s1",
    at: AT,
    deliveryId: "d1",
    textHash: "t1",
  });

function rotation(sessionId: string, changes: Partial<Rotation> = {}): Rotation {
  return {
    sessionId,
    at: "2026-03-02T09:00:00.000Z",
    deliveryId: `d of ${sessionId}`,
    textHash: `t of ${sessionId}`,
    verdict: { action: "rotate", trigger: "command", command: "/new" },
    turns: 3,
    head: `head before ${sessionId}`,
    carried: { activeAgent: "lily", model: null, toldNoModel: false },
    ...changes,
  };
}

/** A chain of as many sessions as there are lists, each of which continues the sessions with those ordinals. */
function chainOf(continues: readonly (readonly number[])[]): Chain {
  return continues
    .slice(1)
    .reduce(
      (chain, earlier, index) =>
        rotateChain(chain, rotation(`s${index + 2}`, { continues: earlier.map((ordinal) => `s${ordinal}`) })),
      first(),
    );
}

describe("a new chain", () => {
  it("has one open session without a past", () => {
    const chain = first();
    expect(chainSchema.parse(chain)).toEqual(chain);
    expect(chain).toMatchObject({ revision: 1, latest: "s1" });
    expect(chain.sessions).toEqual([
      {
        sessionId: "s1",
        ordinal: 1,
        previous: null,
        previousSeal: null,
        continues: [],
        opened: { at: AT, deliveryId: "d1", textHash: "t1" },
      },
    ]);
  });
});

describe("rotating a chain", () => {
  it("seals the latest session and opens one behind it that holds its seal", () => {
    const chain = rotateChain(first(), rotation("s2"));
    const [sealed, opened] = chain.sessions;
    expect(sealed?.sealed).toMatchObject({
      at: "2026-03-02T09:00:00.000Z",
      turns: 3,
      head: "head before s2",
    });
    expect(opened).toMatchObject({ sessionId: "s2", ordinal: 2, previous: "s1", continues: [] });
    expect(opened?.previousSeal).toBe(sealed?.sealed?.seal);
    expect(opened?.sealed).toBeUndefined();
    expect(chain).toMatchObject({ latest: "s2", revision: 2 });
  });

  it("leaves the chain that it was given as it was", () => {
    const before = first();
    const copy = structuredClone(before);
    rotateChain(before, rotation("s2", { continues: ["s1"] }));
    expect(before).toEqual(copy);
  });

  it("keeps the list of what is continued apart from the caller's", () => {
    const continues = ["s1"];
    const chain = rotateChain(first(), rotation("s2", { continues }));
    continues.push("s9");
    expect(entryOf(chain, "s2")?.continues).toEqual(["s1"]);
  });

  it("never changes an entry that was sealed before", () => {
    const two = rotateChain(first(), rotation("s2"));
    const three = rotateChain(two, rotation("s3"));
    expect(three.sessions[0]).toEqual(two.sessions[0]);
  });

  it("gives a valid chain with one open session, its last, however often it is done", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), (length) => {
        const chain = chainOf(Array.from({ length }, () => []));
        expect(chainSchema.safeParse(chain).success).toBe(true);
        expect(chain.sessions.map(({ ordinal }) => ordinal)).toEqual(
          Array.from({ length }, (_, index) => index + 1),
        );
        expect(chain.sessions.filter(({ sealed }) => sealed === undefined)).toEqual([latestEntry(chain)]);
        expect(chain.revision).toBe(length);
        for (const [index, entry] of chain.sessions.entries())
          expect(entry.previousSeal).toBe(chain.sessions[index - 1]?.sealed?.seal ?? null);
      }),
    );
  });

  it("covers the title in the seal", () => {
    const plain = rotateChain(first(), rotation("s2"));
    const titled = rotateChain(first(), { ...rotation("s2"), title: "trip" });
    expect(titled.sessions[0]?.sealed?.seal).not.toBe(plain.sessions[0]?.sealed?.seal);
  });

  it.each<[string, Partial<Rotation>]>([
    ["number of turns", { turns: 4 }],
    ["head", { head: "other" }],
  ])("gives another seal for another %s", (_what, change) => {
    const one = rotateChain(first(), rotation("s2"));
    const other = rotateChain(first(), rotation("s2", change));
    expect(other.sessions[1]?.previousSeal).not.toBe(one.sessions[1]?.previousSeal);
  });

  it("gives a seal that is computed from the entry whether or not it is sealed already", () => {
    const chain = rotateChain(first(), rotation("s2"));
    const sealed = chain.sessions[0];
    if (sealed?.sealed === undefined) throw new Error("not sealed");
    expect(sealEntry(chain, sealed, sealed.sealed)).toBe(sealed.sealed.seal);
  });
});

describe("the title", () => {
  it("is sealed with the session that had it", () => {
    const chain = rotateChain(first(), { ...rotation("s2"), title: "trip" });
    expect(chain.sessions.map(({ title }) => title)).toEqual(["trip", undefined]);
  });
});

describe("the latest entry", () => {
  const two = rotateChain(first(), rotation("s2"));

  it.each<[string, Chain]>([
    ["latest names another session", { ...two, latest: "s1" }],
    ["latest names no session", { ...two, latest: "nowhere" }],
    ["the last session is sealed", { ...two, latest: "s1", sessions: two.sessions.slice(0, 1) }],
    ["there is no session", { ...two, sessions: [] }],
  ])("is refused as damaged when %s", (_when, chain) => {
    expect(() => latestEntry(chain)).toThrow(expect.objectContaining({ code: "record_invalid" }));
    expect(() => rotateChain(chain, rotation("s9"))).toThrow("does not end in its latest session");
  });
});

describe("the session that a delivery opened", () => {
  const chain = rotateChain(first(), rotation("s2"));

  it("is found by the delivery", () => {
    expect(openedBy(chain, "d of s2")?.sessionId).toBe("s2");
  });

  it("is none for the first session of a key, which no rollover opened", () => {
    expect(openedBy(chain, "d1")).toBeUndefined();
  });

  it("is none for a delivery that opened nothing", () => {
    expect(openedBy(chain, "")).toBeUndefined();
  });
});

describe("the lineage of a session", () => {
  it("is the session alone when it continues nothing", () => {
    expect(lineageOf(chainOf([[], []]), "s2")).toEqual(["s2"]);
  });

  it("has what it continues before it, oldest first", () => {
    expect(lineageOf(chainOf([[], [1], [2]]), "s3")).toEqual(["s1", "s2", "s3"]);
  });

  it("ends for a session that was damaged into continuing itself", () => {
    expect(lineageOf(chainOf([[1], [2, 1]]), "s2")).toEqual(["s1", "s2"]);
  });

  it("leaves out the sessions in between that it does not continue", () => {
    expect(lineageOf(chainOf([[], [], [], [1]]), "s4")).toEqual(["s1", "s4"]);
  });

  it("has a session that is continued on two ways once", () => {
    expect(lineageOf(chainOf([[], [1], [1], [2, 3]]), "s4")).toEqual(["s1", "s2", "s3", "s4"]);
  });

  it("is the id alone for a session that the chain does not have", () => {
    expect(lineageOf(first(), "nowhere")).toEqual(["nowhere"]);
  });

  it("ends in the session, has each once, and everything before what continues it", () => {
    const shape = fc
      .integer({ min: 1, max: 7 })
      .chain((length) =>
        fc.tuple(
          ...Array.from({ length }, (_, index) =>
            fc.subarray(Array.from({ length: index }, (_unused, earlier) => earlier + 1)),
          ),
        ),
      );
    fc.assert(
      fc.property(shape, (continues) => {
        const chain = chainOf(continues);
        const lineage = lineageOf(chain, chain.latest);
        expect(lineage.at(-1)).toBe(chain.latest);
        expect(new Set(lineage).size).toBe(lineage.length);
        for (const [index, id] of lineage.entries())
          for (const earlier of entryOf(chain, id)?.continues ?? [])
            expect(lineage.slice(0, index)).toContain(earlier);
      }),
    );
  });
});

describe("a stored chain", () => {
  it.each<[string, object]>([
    ["an unknown version", { v: 2 }],
    ["no sessions", { sessions: [] }],
    ["an unknown field", { extra: 1 }],
    ["revision 0", { revision: 0 }],
    ["a revision that is text", { revision: "1" }],
    ["no latest", { latest: undefined }],
  ])("is refused with %s", (_with, change) => {
    expect(chainSchema.safeParse({ ...first(), ...change }).success).toBe(false);
  });
});
