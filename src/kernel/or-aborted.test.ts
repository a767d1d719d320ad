import { describe, expect, it } from "vitest";
import { orAborted } from "./or-aborted.ts";

const never = new Promise<never>(() => undefined);

describe("orAborted", () => {
  it("gives what the work gives or throws while nothing is aborted", async () => {
    const { signal } = new AbortController();
    expect(await orAborted(Promise.resolve(1), { signal })).toBe(1);
    await expect(orAborted(Promise.reject(new Error("broken")), { signal })).rejects.toThrow("broken");
  });

  it("ends with the reason of the abort, also one that came before, and does not wait for the work", async () => {
    const controller = new AbortController();
    const waiting = orAborted(never, { signal: controller.signal });
    controller.abort(new Error("the user"));
    await expect(waiting).rejects.toThrow("the user");
    await expect(orAborted(never, { signal: controller.signal })).rejects.toThrow("the user");
  });

  it("gives an abort error where the reason is none", async () => {
    await expect(orAborted(never, { signal: AbortSignal.abort("why not") })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  it("lets aborted work end by itself within its grace, and no longer", async () => {
    const controller = new AbortController();
    let finish: (value: string) => void = () => undefined;
    const work = new Promise<string>((resolve) => (finish = resolve));
    const kept = orAborted(work, { signal: controller.signal, grace: () => never });
    controller.abort();
    finish("what there was");
    expect(await kept).toBe("what there was");

    const left = orAborted(never, { signal: controller.signal, grace: async () => undefined });
    await expect(left).rejects.toMatchObject({ name: "AbortError" });
  });

  it("ends the wait of the grace when the work has ended", async () => {
    const controller = new AbortController();
    let given: AbortSignal | undefined;
    const grace = (ended: AbortSignal) => {
      given = ended;
      return never;
    };
    controller.abort();
    await orAborted(Promise.resolve("done"), { signal: controller.signal, grace });
    expect(given?.aborted).toBe(true);
  });
});
