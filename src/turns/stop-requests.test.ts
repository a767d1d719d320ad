import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { obeyStopRequests } from "./obey-stop-requests.ts";
import { createStoreStopRequests, type StopRequests } from "./stop-requests.ts";
import { createManualTimer } from "./testing/manual-timer.ts";

const turn = (token: number) => ({ owner: "local", sessionKey: "k", token });

function requestsOf() {
  const { store } = createMemoryBackend({ clock: createManualClock(0) });
  return { requests: createStoreStopRequests(store), rows: () => store.search(["stop-requests"]) };
}

describe("requests to stop", () => {
  it("are read by the turn that they name, and by no other", async () => {
    const { requests } = requestsOf();
    await requests.ask(turn(7), "a");
    await requests.ask(turn(7), "b");
    await requests.ask({ ...turn(7), sessionKey: "other" }, "c");
    await requests.ask({ ...turn(7), owner: "eve" }, "d");
    expect((await requests.read(turn(7))).toSorted()).toEqual(["a", "b"]);
  });

  it("to an earlier turn are removed when the next is asked", async () => {
    const { requests, rows } = requestsOf();
    for (const by of ["a", "b"]) await requests.ask(turn(6), by);
    await requests.ask(turn(7), "c");
    expect(await requests.isPending(turn(7), "c")).toBe(true);
    expect(await rows()).toHaveLength(1);
  });

  it("to an earlier turn are removed by a look, those to a later one stay", async () => {
    const { requests } = requestsOf();
    for (const token of [8, 7, 6]) await requests.ask(turn(token), "a");
    expect(await requests.read(turn(7))).toEqual(["a"]);
    expect(await requests.isPending(turn(6), "a")).toBe(false);
    expect(await requests.isPending(turn(8), "a")).toBe(true);
  });

  it("are there until they are taken back, however often", async () => {
    const { requests, rows } = requestsOf();
    await requests.ask(turn(7), "a");
    await requests.ask(turn(7), "a");
    expect(await requests.isPending(turn(7), "a")).toBe(true);
    await requests.remove(turn(7), "a");
    await requests.remove(turn(7), "a");
    expect(await requests.isPending(turn(7), "a")).toBe(false);
    expect(await rows()).toEqual([]);
  });

  it("are cleared however many there are", async () => {
    const { requests, rows } = requestsOf();
    for (let index = 0; index < 250; index += 1) await requests.ask(turn(7), `d${index}`);
    await requests.clear(turn(7));
    expect(await rows()).toEqual([]);
  });

  it("are cleared with those before them when the turn ends", async () => {
    const { requests, rows } = requestsOf();
    for (const token of [6, 7, 8]) await requests.ask(turn(token), "a");
    await requests.clear(turn(7));
    expect((await rows()).map(({ value }) => value["token"])).toEqual([8]);
  });
});

describe("a turn that looks for requests", () => {
  const running = () => ({ turn: turn(7), deliveryIds: ["a", "b"], stop: new AbortController() });

  it("stops when it looks next, not before", async () => {
    const { requests, rows } = requestsOf();
    const timer = createManualTimer();
    const mine = running();
    const end = obeyStopRequests(requests, timer, mine);
    await requests.ask(turn(7), "x");
    await timer.advance(249);
    expect(mine.stop.signal.aborted).toBe(false);
    await timer.advance(1);
    expect(mine.stop.signal.aborted).toBe(true);
    await end();
    expect(await rows()).toEqual([]);
    expect(timer.pending).toBe(0);
  });

  it("declines what asks in the name of a delivery that it answers", async () => {
    const { requests } = requestsOf();
    const timer = createManualTimer();
    const mine = running();
    const end = obeyStopRequests(requests, timer, mine);
    await requests.ask(turn(7), "b");
    await timer.advance(250);
    expect(mine.stop.signal.aborted).toBe(false);
    expect(await requests.isPending(turn(7), "b")).toBe(false);
    await requests.ask(turn(7), "b");
    await requests.ask(turn(7), "x");
    await timer.advance(250);
    expect(mine.stop.signal.aborted).toBe(true);
    await end();
  });

  it("removes what asked it and those before it also when it ends before its first look", async () => {
    const { requests, rows } = requestsOf();
    for (const token of [6, 7, 8]) await requests.ask(turn(token), "x");
    const timer = createManualTimer();
    await obeyStopRequests(requests, timer, running())();
    expect((await rows()).map(({ value }) => value["token"])).toEqual([8]);
    expect(timer.pending).toBe(0);
  });

  it("goes on when the store does not answer, and hears the request at a later look", async () => {
    const { requests } = requestsOf();
    let isDown = true;
    const failing: StopRequests = {
      ...requests,
      read: (asked) => (isDown ? Promise.reject(new Error("locked")) : requests.read(asked)),
    };
    const timer = createManualTimer();
    const mine = running();
    const end = obeyStopRequests(failing, timer, mine);
    await requests.ask(turn(7), "x");
    await timer.advance(250);
    expect(mine.stop.signal.aborted).toBe(false);
    isDown = false;
    await timer.advance(250);
    expect(mine.stop.signal.aborted).toBe(true);
    await end();
  });
});
