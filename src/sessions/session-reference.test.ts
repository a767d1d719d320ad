import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import { openChain, rotateChain, type Chain, findSessionByReference } from "./chain.ts";

const AT = "2026-03-01T09:00:00.000Z";
const IDS = [
  "0198aaaa-0000-7000-8000-000000000001",
  "0198bbbb-0000-7000-8000-000000000002",
  "12345678-0000-7000-8000-000000000003",
];

function chainOf(ids: readonly string[]): Chain {
  const [first = "", ...later] = ids;
  const chain = openChain({
    owner: "local",
    sessionKey: "cli:main",
    sessionId: first,
    at: AT,
    deliveryId: "d",
    textHash: "t",
  });
  return later.reduce(
    (before, sessionId) =>
      rotateChain(before, {
        sessionId,
        at: AT,
        deliveryId: "d",
        textHash: "t",
        verdict: { action: "rotate", trigger: "command", command: "/new" },
        turns: 1,
        head: "h",
        carried: { activeAgent: "lily", model: null, toldNoModel: false },
      }),
    chain,
  );
}

const chain = chainOf(IDS);

function refusal(reference: string, of = chain): { code: string; message: string } | undefined {
  try {
    findSessionByReference(of, reference);
    return undefined;
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

describe("a reference to a session", () => {
  it.each([
    ["its number", "2", 2],
    ["its number behind #", "#2", 2],
    ["its number with white space around it", " 2 ", 2],
    ["its number with leading zeros", "002", 2],
    ["its whole id", IDS[0] ?? "", 1],
    ["its id in upper case", (IDS[1] ?? "").toUpperCase(), 2],
    ["the start of its id", "0198b", 2],
    ["the start of its id behind #", "#0198b", 2],
    ["four digits that are no number of a session", "1234", 3],
    ["previous", "previous", 2],
    ["previous in another case", "Previous", 2],
  ])("can be %s", (_what, reference, ordinal) => {
    expect(findSessionByReference(chain, reference).ordinal).toBe(ordinal);
  });

  it("means the number first when the start of an id reads as one", () => {
    const ids = Array.from({ length: 11 }, (_, index) => `${String(index + 20)}aaaaaa-0000`);
    ids[4] = "0010aaaa-0000";
    expect(findSessionByReference(chainOf(ids), "0010").ordinal).toBe(10);
  });

  it.each([
    ["a number that no session has", "4"],
    ["number 0", "0"],
    ["a negative number", "-1"],
    ["three characters of an id", "019"],
    ["the end of an id", "000000000001"],
    ["nothing", ""],
    ["# alone", "#"],
    ["two #", "##2"],
    ["a decimal", "2.0"],
    ["a digit of another script", "٢"],
    ["a very long number", "9".repeat(400)],
    ["a pattern", "0198.*"],
    ["a name that objects have", "__proto__"],
  ])("finds nothing for %s, and says what to type", (_what, reference) => {
    expect(refusal(reference)).toEqual({
      code: "session_not_found",
      message: `no session of this conversation is called ${JSON.stringify(reference)}`,
    });
  });

  it("is refused when it could be two sessions, which are named by number", () => {
    const found = refusal("0198");
    expect(found?.code).toBe("session_ambiguous");
    expect(found?.message).toContain("1 (0198aaaa), 2 (0198bbbb)");
  });

  it("finds no previous session when there is only one", () => {
    expect(refusal("previous", chainOf(IDS.slice(0, 1)))?.code).toBe("session_not_found");
  });
});
