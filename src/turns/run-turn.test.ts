import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createSequentialIds } from "#src/kernel/ids.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { Arrivals } from "./arrivals.ts";
import { runTurn, type RunTurnDeps } from "./run-turn.ts";
import type { GraphRun, SessionRunner, TurnEvent } from "./runner.ts";
import { StopRegistry } from "./stop.ts";
import type { TurnReply } from "./turn-reply.ts";

const reply: TurnReply = {
  outcome: "answered",
  sessionId: "s",
  deliveryId: "d",
  turn: 1,
  status: "completed",
  repeated: false,
  envelope: { ok: true, code: "answered", message: "hi" },
};
const request = { owner: "local", sessionKey: "k", content: "hello", deliveryId: "d" };

function depsWith(
  run: SessionRunner["run"],
  locks: KeyLock = createMemoryBackend({ clock: createManualClock(0) }).locks,
): RunTurnDeps {
  return {
    ids: createSequentialIds(),
    runner: { run, readSession: async () => undefined },
    repository: { readChain: async () => undefined } as unknown as SessionRepository,
    locks,
    stops: new StopRegistry(),
    readCommand: async () => reply,
    messageCharacters: 100,
    botNames: ["lily"],
    lockWaitMs: 1_000,
    lifecycleMode: "segmented",
    store: new InMemoryStore(),
    arrivals: new Arrivals(),
  };
}

describe("runTurn", () => {
  it("follows a hand-off with a run of its own, under the same lease", async () => {
    const runs: GraphRun[] = [];
    const deps = depsWith(async (run) => {
      runs.push(run);
      return runs.length === 1
        ? { kind: "handoff", sessionId: "second", message: { id: "d", content: "rest" } }
        : { kind: "reply", reply };
    });
    expect(await runTurn(deps, request)).toEqual(reply);
    expect(runs.map((run) => [run.threadId, run.message.content])).toEqual([
      [expect.any(String), "hello"],
      ["second", "rest"],
    ]);
    expect(runs[0]?.fence).toEqual(runs[1]?.fence);
  });

  it.each([
    ["throws", () => Promise.resolve(), true],
    ["rejects", () => Promise.reject(new Error("the pipe is closed")), false],
  ])("is answered when its listener %s", async (_how, later, throws) => {
    const heard: string[] = [];
    const deps = depsWith(async ({ onEvent }) => {
      onEvent?.({ type: "token", text: "h" });
      onEvent?.({ type: "token", text: "i" });
      return { kind: "reply", reply };
    });
    const onEvent = (event: TurnEvent): unknown => {
      heard.push(event.type);
      if (throws) throw new Error("the pipe is closed");
      return later();
    };
    expect(await runTurn(deps, { ...request, onEvent })).toEqual(reply);
    expect(heard).toEqual(["session", "token", "token"]);
  });

  it("tells once, across hand-offs, that a checkpoint was dropped", async () => {
    const dropped = new Set(["second"]);
    let runs = 0;
    const run: SessionRunner["run"] = async () => {
      runs += 1;
      return runs % 2 === 1
        ? { kind: "handoff", sessionId: "second", message: { id: "d", content: "rest" } }
        : { kind: "reply", reply: { ...reply, notice: "No model is configured." } };
    };
    const deps = { ...depsWith(run), takeDropped: (sessionId: string) => dropped.delete(sessionId) };
    expect((await runTurn(deps, request)).notice).toMatch(/was dropped.*nothing is lost.*\nNo model is/u);
    expect((await runTurn(deps, request)).notice).toBe("No model is configured.");
  });

  it("tells why the checkpoint behind the turn could not be stored", async () => {
    const deps = depsWith(async () => ({ kind: "reply", reply, unstored: "no room" }));
    const { notice } = await runTurn(deps, request);
    expect(notice).toMatch(/could not be stored: no room\. No answer is lost/u);
  });

  it("fails plainly when a message goes in circles", async () => {
    const deps = depsWith(async () => ({
      kind: "handoff",
      sessionId: "s",
      message: { id: "d", content: "x" },
    }));
    expect(await runTurn(deps, request)).toMatchObject({
      outcome: "failed",
      envelope: { code: "turn_loop" },
    });
  });

  it("gives the lock back when a run throws, and tells what it threw", async () => {
    const locks = createMemoryBackend({ clock: createManualClock(0) }).locks;
    const broken = depsWith(() => Promise.reject(new Error("boom")), locks);
    expect(await runTurn(broken, request)).toMatchObject({
      outcome: "failed",
      envelope: { code: "internal", message: "boom" },
    });
    const whole = depsWith(async () => ({ kind: "reply", reply }), locks);
    expect(await runTurn(whole, request)).toEqual(reply);
  });

  it("says that it was stopped when the stop comes while it waits for another turn", async () => {
    const locks = createMemoryBackend({ clock: createManualClock(0) }).locks;
    const lease = await locks.acquire("turn/local/k");
    const stop = new AbortController();
    const waiting: string[] = [];
    const pending = runTurn(
      depsWith(async () => ({ kind: "reply", reply }), locks),
      {
        ...request,
        stop: stop.signal,
        onEvent: (event) => {
          waiting.push(event.type);
          stop.abort();
        },
      },
    );
    expect(await pending).toMatchObject({
      outcome: "failed",
      turn: null,
      envelope: { code: "turn_stopped" },
    });
    expect(waiting).toEqual(["waiting"]);
    await lease.release();
  });

  it("gives up waiting after the longest wait", async () => {
    const locks = createMemoryBackend({ clock: createManualClock(0) }).locks;
    const lease = await locks.acquire("turn/local/k");
    const deps = { ...depsWith(async () => ({ kind: "reply", reply }), locks), lockWaitMs: 10 };
    expect(await runTurn(deps, request)).toMatchObject({
      outcome: "failed",
      envelope: { code: "lease_timeout" },
    });
    await lease.release();
  });

  it("gives each message without a delivery id one of its own", async () => {
    const seen: string[] = [];
    const deps = depsWith(async (run) => {
      seen.push(run.message.id);
      return { kind: "reply", reply };
    });
    const { deliveryId: _own, ...without } = request;
    await runTurn(deps, without);
    await runTurn(deps, without);
    expect(new Set(seen).size).toBe(2);
  });
});
