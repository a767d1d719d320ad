/** Graders of a key's sessions: which one is latest, how they are linked, what is sealed. */
import type { HistoryTurn, SentReply, SessionSummary } from "#evals/harness/runner.ts";
import { expectEqual, expectThat } from "./expect.ts";

/** Both replies belong to one session. */
export function expectSameSession(
  before: Pick<SentReply, "sessionId">,
  after: Pick<SentReply, "sessionId">,
): void {
  const said = `the session changed from ${before.sessionId} to ${after.sessionId}, expected no rotation`;
  expectThat(before.sessionId === after.sessionId, said);
}

/** The second reply belongs to another session than the first. */
export function expectRotated(
  before: Pick<SentReply, "sessionId">,
  after: Pick<SentReply, "sessionId">,
): void {
  expectThat(
    before.sessionId !== after.sessionId,
    `the session is still ${before.sessionId}, expected a new one`,
  );
}

/** The key has exactly `count` sessions, linked in order, all but the last sealed, the last one latest. */
export function expectChain(sessions: readonly SessionSummary[], count: number): void {
  expectEqual("the number of sessions", sessions.length, count);
  expectWellLinked(sessions);
}

/** Whatever its length: the chain is linked in order, exactly one session is latest, and all others are sealed. */
export function expectWellLinked(sessions: readonly SessionSummary[]): void {
  const last = sessions.length - 1;
  for (const [index, session] of sessions.entries()) {
    const name = `session ${index + 1}`;
    expectEqual(`the ordinal of ${name}`, session.ordinal, index + 1);
    expectEqual(`the predecessor of ${name}`, session.previous, sessions[index - 1]?.sessionId ?? null);
    expectEqual(`whether ${name} is latest`, session.latest, index === last);
    expectEqual(`whether ${name} is sealed`, session.sealed, index !== last);
  }
}

/** The session that is latest. */
export function latestOf(sessions: readonly SessionSummary[]): SessionSummary {
  const latest = sessions.find((session) => session.latest);
  expectThat(latest !== undefined, "no session is latest");
  return latest;
}

/** The session of an ordinal, from 1. */
export function sessionAt(sessions: readonly SessionSummary[], ordinal: number): SessionSummary {
  const found = sessions.find((session) => session.ordinal === ordinal);
  expectThat(found !== undefined, `there is no session ${ordinal}; there are ${sessions.length}`);
  return found;
}

/** Sealed sessions of `before` are in `after` to the last byte; more may have come. */
export function expectSealsKept(before: readonly SessionSummary[], after: readonly SessionSummary[]): void {
  for (const session of before.filter(({ sealed }) => sealed)) {
    const now = sessionAt(after, session.ordinal);
    expectEqual(`the sealed session ${session.ordinal}`, now, session);
  }
}

/** A transcript is what it was. */
export function expectTranscriptKept(before: readonly HistoryTurn[], after: readonly HistoryTurn[]): void {
  expectEqual("the number of turns of the sealed transcript", after.length, before.length);
  for (const [index, turn] of before.entries())
    expectEqual(`turn ${turn.turn} of the sealed transcript`, after[index], turn);
}

/** What the user said in a transcript, in order. */
export function userTexts(turns: readonly HistoryTurn[]): string[] {
  return turns.flatMap(({ messages }) =>
    messages.filter(({ role }) => role === "user").map(({ content }) => content),
  );
}
