import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { jobsBesideTurns } from "./jobs-beside-turns.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function open(run: (owner: string) => Promise<unknown>) {
  const clock = createManualClock(0);
  const errors: unknown[] = [];
  return { clock, errors, jobs: jobsBesideTurns(run, { clock, onError: (error) => errors.push(error) }) };
}

describe("the lifecycle job beside turns", () => {
  it("runs with the first turn of an owner, and again a day later", async () => {
    const ran: string[] = [];
    const { clock, jobs } = open(async (owner) => ran.push(owner));
    jobs.afterTurn("ada");
    jobs.afterTurn("ada");
    jobs.afterTurn("bert");
    clock.advance(DAY - 1);
    jobs.afterTurn("ada");
    await jobs.settled();
    expect(ran).toEqual(["ada", "bert"]);
    clock.advance(1);
    jobs.afterTurn("ada");
    await jobs.settled();
    expect(ran).toEqual(["ada", "bert", "ada"]);
  });

  it("is not moved by a wall clock that jumps", async () => {
    const ran: string[] = [];
    const { clock, jobs } = open(async (owner) => ran.push(owner));
    jobs.afterTurn("ada");
    clock.set(400 * DAY);
    jobs.afterTurn("ada");
    clock.set(-400 * DAY);
    jobs.afterTurn("ada");
    await jobs.settled();
    expect(ran).toEqual(["ada"]);
  });

  it("is done for one owner at a time, and returns at once", async () => {
    const events: string[] = [];
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const { jobs } = open(async (owner) => {
      events.push(`${owner} begins`);
      if (owner === "ada") await held;
      events.push(`${owner} ends`);
    });
    jobs.afterTurn("ada");
    jobs.afterTurn("bert");
    events.push("turns go on");
    goOn();
    await jobs.settled();
    expect(events).toEqual(["turns go on", "ada begins", "ada ends", "bert begins", "bert ends"]);
  });

  it("tells of a failure, goes on with the next owner, and tries again an hour later", async () => {
    const ran: string[] = [];
    const { clock, errors, jobs } = open(async (owner) => {
      ran.push(owner);
      if (owner === "ada" && ran.length === 1) throw new Error("busy");
    });
    jobs.afterTurn("ada");
    jobs.afterTurn("bert");
    await jobs.settled();
    expect(errors).toEqual([new Error("busy")]);
    jobs.afterTurn("ada");
    clock.advance(HOUR);
    jobs.afterTurn("ada");
    await jobs.settled();
    expect(ran).toEqual(["ada", "bert", "ada"]);
  });
});
