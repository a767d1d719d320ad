import { Chalk } from "chalk";
import { describe, expect, it } from "vitest";
import { done, refused } from "#src/kernel/envelope.ts";
import type { TurnEvent } from "#src/turns/runner.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { sessionAfter, TurnView } from "./turn-view.ts";

function replyOf(fields: Partial<TurnReply>): TurnReply {
  return {
    outcome: "answered",
    sessionId: "s1",
    deliveryId: "d1",
    turn: 1,
    status: "completed",
    repeated: false,
    envelope: done("answered", "Hello there."),
    ...fields,
  };
}

/** What stands on the screen after a turn; the spinner's labels stand in angle brackets. */
function shown(events: readonly TurnEvent[], reply: TurnReply, lastSessionId?: string): string {
  const written: string[] = [];
  const view = new TurnView({
    write: (text) => void written.push(text),
    screen: { columns: 60, rows: 24, isPlain: false, isTerminal: true, paint: new Chalk({ level: 0 }) },
    activity: { show: (what) => void written.push(`<${what}>`), hide: () => undefined },
    lastSessionId,
  });
  for (const event of events) view.onEvent(event);
  view.finish(reply);
  return written.join("");
}

const token = (text: string): TurnEvent => ({ type: "token", text });

describe("a turn on the screen", () => {
  it("shows an answer as it comes, once", () => {
    expect(shown([token("Hello "), token("there.")], replyOf({}))).toBe("<thinking>Hello there.\n");
  });

  it("shows an answer that was not streamed", () => {
    expect(shown([], replyOf({}))).toBe("<thinking>Hello there.\n");
  });

  it("shows the true answer when another one was streamed before a retry", () => {
    expect(shown([token("Hel"), token("Hello there.")], replyOf({}))).toBe(
      "<thinking>HelHello there.\nHello there.\n",
    );
  });

  it("tells when the conversation was moved to another session from elsewhere, and only then", () => {
    const events: TurnEvent[] = [{ type: "session", sessionId: "s2" }, token("Hello there.")];
    expect(shown(events, replyOf({}), "s1")).toContain("moved to another session");
    expect(shown(events, replyOf({}), "s2")).not.toContain("moved to another session");
    expect(shown(events, replyOf({}))).not.toContain("moved to another session");
  });

  it("shows what is said before the answer once, above it", () => {
    const notice = "A new conversation began.";
    const text = shown(
      [{ type: "notice", text: notice }, token("Hello there.")],
      replyOf({ announcement: notice }),
    );
    expect(text.split(notice)).toHaveLength(2);
    expect(text.indexOf(notice)).toBeLessThan(text.indexOf("Hello"));
  });

  it("names the tool that runs, on a line of its own", () => {
    expect(
      shown([token("Let me look."), { type: "tool", name: "clock" }, token("Hello there.")], replyOf({})),
    ).toBe("<thinking>Let me look.\n<running clock>Hello there.\n");
  });

  it("says that another turn runs", () => {
    expect(shown([{ type: "waiting" }], replyOf({}))).toContain(
      "<waiting for another turn on this conversation>",
    );
  });

  it("says that a stopped answer is kept", () => {
    expect(shown([token("Hel")], replyOf({ status: "stopped", envelope: done("answered", "Hel") }))).toBe(
      "<thinking>Hel\nStopped. What was written so far is kept.\n",
    );
  });

  it("says that a message with /new went to a new session", () => {
    const events: TurnEvent[] = [
      { type: "session", sessionId: "s1" },
      { type: "session", sessionId: "s2" },
    ];
    expect(shown(events, replyOf({}))).toContain("This is a new session");
    expect(shown(events, replyOf({ announcement: "A new conversation began." }))).not.toContain(
      "This is a new session",
    );
  });

  it("shows a failure below what was written before it", () => {
    const envelope = refused("model_failed", "the model broke off", { next: "Send it again." });
    const text = shown([token("Hel")], replyOf({ outcome: "failed", envelope }));
    expect(text).toMatch(/Hel\n╭ model_failed/u);
  });

  it("cannot be made to control the terminal", () => {
    const name = "\u001B]0;x\u0007\u001B[2J";
    const text = shown(
      [token("\u001B[31mHi\u0007"), { type: "tool", name }, { type: "notice", text: name }],
      replyOf({}),
    );
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
  });
});

describe("the session that a terminal is in", () => {
  it("is none after a command that only reads, before the first turn: another one is begun then", () => {
    expect(sessionAfter({ outcome: "command", sessionId: "s1", turn: null }, undefined)).toBeUndefined();
    expect(sessionAfter({ outcome: "refused", sessionId: "s1", turn: null }, undefined)).toBeUndefined();
  });

  it("stays the one of the last turn when a command only reads, so that a move from elsewhere is still told", () => {
    expect(sessionAfter({ outcome: "command", sessionId: "s2", turn: null }, "s1")).toBe("s1");
  });

  it.each([
    ["an answer", "answered", 1],
    ["a command that was kept", "command", 1],
    ["a rotation without a text", "rotated", null],
    ["a turn that failed", "failed", null],
  ] as const)("is that of %s", (_name, outcome, turn) => {
    expect(sessionAfter({ outcome, sessionId: "s2", turn }, "s1")).toBe("s2");
  });

  it("stays when a reply names none", () => {
    expect(sessionAfter({ outcome: "failed", sessionId: "", turn: null }, "s1")).toBe("s1");
  });
});
