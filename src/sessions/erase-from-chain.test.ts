import { describe, expect, it } from "vitest";
import { chainSchema, openChain, rotateChain, type Chain, type Rotation } from "./chain.ts";
import { erasePartsFromChain, eraseTurnsFromChain, erasedParts, erasedTurns } from "./redaction.ts";

const AT = "2026-03-01T09:00:00.000Z";
const LATER = "2026-04-01T09:00:00.000Z";
const LATEST = "2026-05-01T09:00:00.000Z";

/** Three sessions that d1, d2 and d3 opened; the first is called "pears" and hands on the task "pear tree". */
function chainOf(salted: boolean): Chain {
  let salts = 0;
  const salt = () => `salt ${(salts += 1)}`;
  const rotation = (sessionId: string, changes: Partial<Rotation>): Rotation => ({
    sessionId,
    at: AT,
    deliveryId: `d${sessionId.slice(1)}`,
    textHash: `hash of what opened ${sessionId}`,
    leftHash: `hash of what was left for ${sessionId}`,
    verdict: { action: "rotate", trigger: "command", command: "/new" },
    turns: 3,
    head: "h",
    carried: { activeAgent: "lily", model: null, toldNoModel: false },
    ...(salted ? { salt } : {}),
    ...changes,
  });
  const first = openChain({
    owner: "local",
    sessionKey: "k",
    sessionId: "s1",
    at: AT,
    deliveryId: "d1",
    textHash: "hash of what opened s1",
  });
  const carried = { activeAgent: "lily", model: null, toldNoModel: false, task: "pear tree" };
  const second = rotateChain(first, rotation("s2", { title: "pears", carried }));
  return rotateChain(second, rotation("s3", { title: "plums" }));
}

const turnsOf = (sessionId: string, ...turns: number[]) => turns.map((turn) => ({ sessionId, turn }));
const none: ReadonlySet<string> = new Set();

describe.each([
  ["sealed as earlier versions did", false],
  ["sealed with covers", true],
])("a chain %s", (_how, salted) => {
  const chain = chainOf(salted);

  it("lists erased turns by session, each once, with the time at which it was erased first", () => {
    const turns = [...turnsOf("s2", 3, 1, 1), ...turnsOf("s1", 2)];
    const once = eraseTurnsFromChain(chain, { at: LATER, turns, deliveryIds: none });
    const again = [...turnsOf("s2", 1, 2), ...turnsOf("s1", 2)];
    const twice = eraseTurnsFromChain(once, { at: LATEST, turns: again, deliveryIds: none });
    expect(twice.redactions).toEqual([
      { sessionId: "s2", at: LATER, turns: [1, 3] },
      { sessionId: "s1", at: LATER, turns: [2] },
      { sessionId: "s2", at: LATEST, turns: [2] },
    ]);
    expect([...erasedTurns(twice, "s2")]).toEqual([
      [1, LATER],
      [3, LATER],
      [2, LATEST],
    ]);
    expect(chainSchema.parse(twice)).toEqual(twice);
    expect(twice.revision).toBe(chain.revision + 2);
  });

  it("is the same chain when there is nothing new to list", () => {
    const erasure = { at: LATER, turns: turnsOf("s2", 1), deliveryIds: new Set(["d2"]) };
    const once = eraseTurnsFromChain(chain, erasure);
    expect(eraseTurnsFromChain(once, { ...erasure, at: LATEST })).toBe(once);
    expect(eraseTurnsFromChain(chain, { at: LATER, turns: [], deliveryIds: none })).toBe(chain);
    expect(erasePartsFromChain(chain, () => false, LATER)).toBe(chain);
  });

  it.each(["d1", "d2", "d3"])(
    "forgets the hashes of the text of %s, which opened a session",
    (deliveryId) => {
      const sessionId = `s${deliveryId.slice(1)}`;
      const turns = turnsOf(sessionId, 1);
      const after = eraseTurnsFromChain(chain, { at: LATER, turns, deliveryIds: new Set([deliveryId]) });
      expect(JSON.stringify(after)).not.toContain(`opened ${sessionId}`);
      expect(JSON.stringify(after)).not.toContain(`left for ${sessionId}`);
      expect(erasedParts(after, sessionId)).toEqual(["opened"]);
      expect(after.sessions.filter((entry, index) => entry !== chain.sessions[index])).toHaveLength(1);
    },
  );

  it("loses the titles and tasks that say something, with their salts, and no others", () => {
    const after = erasePartsFromChain(chain, (text) => text.includes("pear"), LATER);
    expect(JSON.stringify(after)).not.toContain("pear");
    expect(after.sessions.map(({ title }) => title)).toEqual([undefined, "plums", undefined]);
    expect(after.redactions).toEqual([
      { sessionId: "s1", at: LATER, parts: ["title"] },
      { sessionId: "s2", at: LATER, parts: ["task"] },
    ]);
    if (!salted) return;
    expect(after.sessions[0]?.covers?.title).toEqual({ hash: chain.sessions[0]?.covers?.title?.hash });
    expect(after.sessions[1]?.covers?.title).toEqual(chain.sessions[1]?.covers?.title);
  });

  it("keeps the seals that it had, and leaves the chain that it was given as it was", () => {
    const copy = structuredClone(chain);
    const after = erasePartsFromChain(chain, () => true, LATER);
    expect(after.sessions.map(({ sealed }) => sealed?.seal)).toEqual(
      chain.sessions.map(({ sealed }) => sealed?.seal),
    );
    expect(chain).toEqual(copy);
  });
});

describe("a seal with covers", () => {
  it("stands for the parts by a hash that tells nothing without its salt", () => {
    const [entry] = chainOf(true).sessions;
    expect(Object.keys(entry?.covers ?? {})).toEqual(["title", "opened"]);
    const salts = Object.values(entry?.covers ?? {}).map((cover) => cover?.salt);
    expect(new Set(salts).size).toBe(2);
    const [plain] = chainOf(false).sessions;
    expect(entry?.sealed?.seal).not.toBe(plain?.sealed?.seal);
    expect(plain?.covers).toBeUndefined();
  });
});
