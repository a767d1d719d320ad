import { describe, expect, it } from "vitest";
import { Background } from "./background.ts";

describe("background jobs", () => {
  it("run beside the caller, one at a time for each name", async () => {
    const ran: string[] = [];
    const background = new Background(() => expect.unreachable());
    const job = (name: string) => async () => {
      await Promise.resolve();
      ran.push(name);
    };
    for (const name of ["a", "a", "b"]) background.run(name, job(name));
    ran.push("the caller goes on");
    await background.settled();
    background.run("a", job("a"));
    await background.settled();
    expect(ran).toEqual(["the caller goes on", "a", "b", "a"]);
  });

  it("are waited for with those that they begin", async () => {
    const ran: string[] = [];
    const background = new Background(() => expect.unreachable());
    background.run("first", async () => {
      await Promise.resolve();
      background.run("second", async () => void ran.push("second"));
    });
    await background.settled();
    expect(ran).toEqual(["second"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["rejects", async () => Promise.reject(new Error("broken"))],
  ] as [string, () => Promise<unknown>][])(
    "tell of a job that %s, and can be begun again",
    async (_how, job) => {
      const errors: unknown[] = [];
      const background = new Background((error) => errors.push(error));
      background.run("a", job);
      await background.settled();
      background.run("a", job);
      await background.settled();
      expect(errors).toMatchObject([{ message: "broken" }, { message: "broken" }]);
    },
  );
});
