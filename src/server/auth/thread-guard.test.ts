import { afterEach, describe, expect, it, vi } from "vitest";
import { loopbackOwner } from "#src/app/loopback.ts";
import { mayReadInProcess, passesGuard, type MayRead } from "./thread-guard.ts";

const THREAD = "01890000-0000-7000-8000-00000000000a";
const RUN = "01890000-0000-7000-8000-00000000000b";

describe("routes that the server does not guard", () => {
  it.each([
    [`/threads/${THREAD}/runs/${RUN}/stream`, `/threads/${THREAD}/runs/${RUN}`],
    [`/threads/${THREAD}/runs/${RUN}/join`, `/threads/${THREAD}/runs/${RUN}`],
    [`/threads/${THREAD}/commands`, `/threads/${THREAD}`],
    [`/threads/${THREAD}/stream/events`, `/threads/${THREAD}`],
  ])("%s is for whoever may read %s", async (path, asked) => {
    const mayRead = vi.fn<MayRead>(async (_path, owner) => owner === "ana");
    expect([await passesGuard(path, "ana", mayRead), await passesGuard(path, "ben", mayRead)]).toEqual([
      true,
      false,
    ]);
    expect(mayRead.mock.calls).toEqual([
      [asked, "ana"],
      [asked, "ben"],
    ]);
  });

  it.each([
    "/threads/..%2Fx/commands",
    "/threads/../commands",
    `/threads/${THREAD}/runs/x/stream`,
    `/threads/x/runs/${RUN}/join`,
    `/threads/${THREAD}?a/stream/events`,
  ])("%s is for nobody, as it names no thread or run", async (path) => {
    const mayRead = vi.fn<MayRead>(async () => true);
    expect(await passesGuard(path, "ana", mayRead)).toBe(false);
    expect(mayRead).not.toHaveBeenCalled();
  });
});

it.each([
  "/threads",
  `/threads/${THREAD}`,
  `/threads/${THREAD}/runs/stream`,
  `/threads/${THREAD}/runs/${RUN}`,
  `/threads/${THREAD}/runs/${RUN}/cancel`,
  "/lily/v1/threads/x/commands",
])("%s is left to the server", async (path) => {
  expect(await passesGuard(path, "ana", async () => false)).toBe(true);
});

describe("the server within the process", () => {
  const LOOPBACK = Symbol.for("langgraph_api:fetch");
  afterEach(() => void Reflect.deleteProperty(globalThis, LOOPBACK));

  it.each([
    [200, true],
    [404, false],
    [403, false],
    [500, false],
  ])("decides by its status %i", async (status, may) => {
    const requests: Request[] = [];
    Reflect.set(globalThis, LOOPBACK, async (url: string, init: RequestInit) => {
      requests.push(new Request(url, init));
      return new Response("{}", { status });
    });
    expect(await mayReadInProcess("/threads/x", "bén")).toBe(may);
    expect(requests.map(({ url, method, headers }) => [method, url, loopbackOwner(headers)])).toEqual([
      ["GET", "http://localhost/threads/x", "bén"],
    ]);
  });

  it("that cannot be asked lets nobody", async () => {
    expect(await mayReadInProcess("/threads/x", "ana")).toBe(false);
  });
});
