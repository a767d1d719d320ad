import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { rotateChain } from "./chain.ts";
import { redactTurn } from "./redaction.ts";
import { AT, changedAt, LATER, leafPaths, NUMBERS, openArchive, problemsOf } from "./testing/archive.ts";

const archive = await openArchive();
beforeEach(() => archive.reset("salted"));

/** Resets first, to an archive whose seals cover what can be erased, or one of an earlier version. */
const withSeals = (salted: boolean) => archive.reset(salted ? "salted" : "plain");

describe("an archive of which turns were erased", () => {
  it.each([true, false])("verifies, and tells how many (covers: %s)", async (salted) => {
    await withSeals(salted);
    expect(await archive.erase([NUMBERS[1], NUMBERS[8]].flatMap((one) => one ?? []))).toEqual({
      redacted: 2,
    });
    expect(await archive.verify()).toEqual({
      ok: true,
      sessions: 3,
      turns: 10,
      erased: { turns: 2, titles: 0 },
      problems: [],
    });
  });

  it.each([true, false])("verifies when all of them were erased (covers: %s)", async (salted) => {
    await withSeals(salted);
    await archive.erase(NUMBERS);
    expect(await archive.verify()).toMatchObject({ ok: true, turns: 10, erased: { turns: 10 } });
  });

  it("goes on: what is sealed after an erasure verifies as well", async () => {
    await archive.erase([{ sessionId: "s3", turn: 1 }]);
    await archive.putChain(
      rotateChain(await archive.chain(), {
        sessionId: "s4",
        at: LATER,
        deliveryId: "d-s4-1",
        textHash: "t",
        verdict: { action: "rotate", trigger: "command", command: "/new" },
        turns: 3,
        head: archive.turn("s3", 3).head,
        carried: { activeAgent: "lily", model: null, toldNoModel: false },
        salt: () => "salt",
      }),
    );
    expect(await archive.verify()).toMatchObject({ ok: true, sessions: 4, erased: { turns: 1 } });
    await archive.erase([{ sessionId: "s3", turn: 2 }]);
    expect(await archive.verify()).toMatchObject({ ok: true, erased: { turns: 2 } });
  });
});

describe("what is wrong with an erasure", () => {
  it("is told when it was listed and the body still stands, until it is done again", async () => {
    await archive.erase([{ sessionId: "s1", turn: 2 }]);
    await archive.putTurn("s1", 2, archive.turn("s1", 2));
    expect(problemsOf(await archive.verify())).toEqual(["s1/2 its erasure did not finish: erase it again"]);
    expect(await archive.erase([{ sessionId: "s1", turn: 2 }], AT)).toEqual({ redacted: 1 });
    expect(await archive.verify()).toMatchObject({ ok: true, erased: { turns: 1 } });
  });

  it("is told when the body is gone and no erasure is on record", async () => {
    await archive.putTurn("s2", 3, redactTurn(archive.turn("s2", 3), LATER));
    expect(problemsOf(await archive.verify())).toEqual(["s2/3 it was erased, and no erasure is on record"]);
  });

  it("is told when the mark is gone as well", async () => {
    await archive.erase([{ sessionId: "s1", turn: 2 }]);
    await archive.putTurn("s1", 2, null);
    expect(problemsOf(await archive.verify())).toContain("s1/2 it is missing");
  });

  it.each([
    [{ sessionId: "s1", at: LATER, turns: [5] }, "s1/5 its erasure is on record, and it is not there"],
    [{ sessionId: "s3", at: LATER, turns: [1] }, "s3/1 its erasure did not finish: erase it again"],
    [{ sessionId: "s9", at: LATER, turns: [1] }, "s9/- an erasure is on record, and no such session"],
    [{ sessionId: "s1", at: LATER, parts: ["title"] }, "s1/- its title: the erasure did not finish"],
  ])("is told when the list says what is not so: %j", async (redaction, problem) => {
    await archive.putChain({ ...(await archive.chain()), redactions: [redaction] });
    expect(problemsOf(await archive.verify())).toEqual([problem]);
  });

  it("is told when a turn that stands was changed beside one that was erased", async () => {
    await archive.erase([{ sessionId: "s1", turn: 2 }]);
    await archive.putTurn("s1", 3, { ...archive.turn("s1", 3), status: "stopped" });
    expect(problemsOf(await archive.verify())).toEqual(["s1/3 its text is not what was committed"]);
  });
});

describe("erased titles and tasks", () => {
  it.each([true, false])("leave the seals to be verified (covers: %s)", async (salted) => {
    await withSeals(salted);
    await archive.eraseParts((text) => text.endsWith("1"));
    expect(await archive.verify()).toMatchObject({ ok: true, erased: { turns: 0, titles: 2 } });
    const once = await archive.chain();
    await archive.eraseParts((text) => text.endsWith("1"));
    expect(await archive.chain()).toEqual(once);
    expect(JSON.stringify(await archive.chain())).not.toMatch(/(?:title|task) 1/u);
  });

  it("are told when they are gone and no erasure is on record", async () => {
    await archive.eraseParts((text) => text === "title 1");
    const { redactions: _redactions, ...chain } = await archive.chain();
    await archive.putChain(chain);
    expect(problemsOf(await archive.verify())).toEqual(["s1/- its title is not the one that was sealed"]);
  });

  it.each(["x", "title 1"])("are told when %j is put in the place of one", async (title) => {
    await archive.eraseParts((text) => text === "title 1");
    const chain = await archive.chain();
    const [first, ...rest] = chain.sessions;
    await archive.putChain({ ...chain, sessions: [{ ...first, title }, ...rest] });
    expect(problemsOf(await archive.verify())).toEqual(["s1/- its title: the erasure did not finish"]);
  });

  it("show every other change of a sealed entry whose seal has covers", async () => {
    await archive.eraseParts((text) => text === "title 2");
    const chain = await archive.chain();
    const unnoticed: string[] = [];
    for (const path of leafPaths(chain.sessions[1])) {
      await archive.putChain(changedAt(chain, ["sessions", "1", ...path]));
      if ((await archive.verify()).ok) unnoticed.push(path.join("."));
    }
    expect(unnoticed).toEqual([]);
  });

  it("show a seal of an earlier version that was changed, by the session that follows", async () => {
    await withSeals(false);
    await archive.eraseParts((text) => text === "title 1");
    await archive.putChain(changedAt(await archive.chain(), ["sessions", "0", "sealed", "seal"]));
    expect(problemsOf(await archive.verify())).toEqual(["s2/- the session before it has another seal now"]);
  });
});

describe("random erasures of a random part", () => {
  const someTurns = fc.subarray(NUMBERS, { minLength: 1 });

  it("verify, in whatever order and however often they are made", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someTurns, { maxLength: 3 }), fc.boolean(), async (erasures, salted) => {
        await withSeals(salted);
        for (const [index, turns] of erasures.entries())
          await archive.erase(turns, `2026-04-0${index + 1}T09:00:00.000Z`);
        const erased = new Set(erasures.flat()).size;
        expect(await archive.verify()).toMatchObject({
          ok: true,
          turns: 10,
          erased: { turns: erased, titles: 0 },
        });
      }),
      { numRuns: 20 },
    );
  });

  it("hide no other change: of a turn that stands, of a place in the hash chain, of the list", async () => {
    await fc.assert(
      fc.asyncProperty(someTurns, fc.constantFrom(...NUMBERS), fc.nat(), async (turns, changed, pick) => {
        await withSeals(true);
        await archive.erase(turns);
        const { sessionId, turn } = changed;
        const item = (await archive.item(sessionId, turn)) ?? {};
        // What a mark says beside its time, leaf and head is for redeliveries, and is under no seal.
        const sealed = "redacted" in item ? [["leaf"], ["head"], ["redacted", "at"]] : leafPaths(item);
        await archive.putTurn(sessionId, turn, changedAt(item, sealed[pick % sealed.length] ?? []));
        const { problems } = await archive.verify();
        expect(problems.map((problem) => problem.sessionId)).toContain(sessionId);
      }),
      { numRuns: 50 },
    );
  });

  it("are told when one of them is taken off the list", async () => {
    await fc.assert(
      fc.asyncProperty(someTurns, fc.nat(), async (turns, pick) => {
        await withSeals(true);
        await archive.erase(turns);
        const chain = await archive.chain();
        const listed = (chain.redactions ?? []).filter((redaction) => redaction.turns !== undefined);
        const dropped = listed[pick % listed.length];
        const redactions = (chain.redactions ?? []).filter((redaction) => redaction !== dropped);
        await archive.putChain({ ...chain, redactions });
        const problems = problemsOf(await archive.verify());
        for (const turn of dropped?.turns ?? [])
          expect(problems).toContain(
            `${dropped?.sessionId}/${turn} it was erased, and no erasure is on record`,
          );
      }),
      { numRuns: 20 },
    );
  });
});
