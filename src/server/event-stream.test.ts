import { describe, expect, it } from "vitest";
import { eventStream, type Every, type SendEvent } from "./event-stream.ts";

/** A heartbeat that beats when it is told to. */
function manualEvery(): { every: Every; beat: () => void; isBeating: () => boolean } {
  let tick: (() => void) | undefined;
  const every: Every = (_ms, next) => {
    tick = next;
    return () => (tick = undefined);
  };
  return { every, beat: () => tick?.(), isBeating: () => tick !== undefined };
}

describe("a stream of events", () => {
  it("begins at once, has an event a block and comments in between, and ends with what it tells of", async () => {
    const { every, beat, isBeating } = manualEvery();
    const response = eventStream(
      async (send) => {
        send("token", { text: "a\r\n\n b" });
        beat();
        send("reply", { ok: true });
      },
      { every, heartbeatMs: 1 },
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.text()).toBe(
      ': lily\n\nevent: token\ndata: {"text":"a\\r\\n\\n b"}\n\n: waiting\n\nevent: reply\ndata: {"ok":true}\n\n',
    );
    expect(isBeating()).toBe(false);
  });

  it("lets what it tells of go on when the client is gone", async () => {
    const { every, isBeating } = manualEvery();
    let send: SendEvent = () => undefined;
    let finish = (): void => undefined;
    const response = eventStream(
      (given) => {
        send = given;
        return new Promise((resolve) => (finish = resolve));
      },
      { every, heartbeatMs: 1 },
    );
    expect(isBeating()).toBe(true);
    await response.body?.cancel();
    expect(isBeating()).toBe(false);
    expect(() => send("token", {})).not.toThrow();
    finish();
    await Promise.resolve();
  });
});
