/** Graders of replies. */
import type { Runner, SentReply } from "#evals/harness/runner.ts";
import { expectThat } from "./expect.ts";

/** The message was answered, with `words` in the answer. */
export function expectAnswered(reply: SentReply, words = ""): void {
  expectOutcome(reply, "answered");
  expectThat(
    reply.text.includes(words),
    `the answer ${JSON.stringify(reply.text)} does not say ${JSON.stringify(words)}`,
  );
}

/** The reply ended as `outcome`. */
export function expectOutcome(reply: SentReply, outcome: string): void {
  const found = `${reply.outcome} (${reply.code}: ${reply.text})`;
  expectThat(reply.outcome === outcome, `the outcome is ${found}, expected ${outcome}`);
}

/** The reply carries `code`. */
export function expectCode(reply: SentReply, code: string): void {
  expectThat(reply.code === code, `the code is ${reply.code} (${reply.text}), expected ${code}`);
}

/** The reply tells of a rollover that nobody asked for, with `words` in what it says. */
export function expectAnnounced(reply: SentReply, words: string): void {
  const { announcement } = reply;
  expectThat(announcement !== undefined, "the rollover was not announced");
  expectThat(
    announcement.includes(words),
    `the announcement ${JSON.stringify(announcement)} does not say ${JSON.stringify(words)}`,
  );
}

/** The reply announces nothing. */
export function expectNotAnnounced(reply: SentReply): void {
  expectThat(reply.announcement === undefined, `a rollover was announced: ${reply.announcement ?? ""}`);
}

/** `again` is the stored reply of `first`, not a second turn. */
export function expectRepeated(first: SentReply, again: SentReply): void {
  expectThat(again.repeated, `the delivery was handled a second time: ${again.outcome} (${again.code})`);
  expectThat(
    again.text === first.text,
    `the second reply says ${JSON.stringify(again.text)}, the first ${JSON.stringify(first.text)}`,
  );
  expectThat(
    again.sessionId === first.sessionId,
    `the second reply names session ${again.sessionId}, the first ${first.sessionId}`,
  );
}

/** Delivers a message twice, which must be one turn with one reply. @returns that reply */
export async function deliverTwice(runner: Runner, key: string, text: string): Promise<SentReply> {
  const first = await runner.send(key, text, { deliveryId: "d-1" });
  expectRepeated(first, await runner.send(key, text, { deliveryId: "d-1" }));
  return first;
}
