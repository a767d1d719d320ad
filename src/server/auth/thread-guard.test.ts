import { afterEach, describe, expect, it, vi } from "vitest";
import { loopbackOwner } from "#src/app/loopback.ts";
import { type MayRead, mayReadInProcess, passesGuard } from "./server-routes.ts";

const THREAD = "01890000-0000-7000-8000-00000000000a";
const RUN = "01890000-0000-7000-8000-00000000000b";

const guarded = (route: string, owner: string) => {
  const [method = "", path = ""] = route.split(" ");
  return { method, path, owner };
};

describe("routes that the server does not guard", () => {
  it.each([
    [`GET /threads/${THREAD}/runs/${RUN}/stream`, { thread_id: THREAD, run_id: RUN }],
    [`GET /threads/${THREAD}/runs/${RUN}/join`, { thread_id: THREAD, run_id: RUN }],
    [`POST /threads/${THREAD}/runs/${RUN}/cancel`, { thread_id: THREAD, run_id: RUN }],
    [`POST /threads/${THREAD}/commands`, { thread_id: THREAD }],
    [`POST /threads/${THREAD}/stream/events`, { thread_id: THREAD }],
    [`GET /threads/${THREAD}/stream/events`, { thread_id: THREAD }],
  ])("%s is for whoever may read %j", async (route, asked) => {
    const mayRead = vi.fn<MayRead>(async (_path, owner) => owner === "ana");
    const outcomes = [
      await passesGuard(guarded(route, "ana"), mayRead),
      await passesGuard(guarded(route, "ben"), mayRead),
    ];
    expect(outcomes).toEqual([true, false]);
    expect(mayRead.mock.calls).toEqual([
      [asked, "ana"],
      [asked, "ben"],
    ]);
  });

  it.each([
    "POST /threads/..%2Fx/commands",
    "POST /threads/../commands",
    `GET /threads/${THREAD}/runs/x/stream`,
    `GET /threads/x/runs/${RUN}/join`,
    `POST /threads/${THREAD}?a/stream/events`,
    // A run alone does not tell whose it is.
    `GET /runs/${RUN}/stream`,
    "GET /a/route/of/a/later/version",
  ])("%s is for nobody", async (route) => {
    const mayRead = vi.fn<MayRead>(async () => true);
    expect(await passesGuard(guarded(route, "ana"), mayRead)).toBe(false);
    expect(mayRead).not.toHaveBeenCalled();
  });
});

it.each([
  "POST /threads",
  `GET /threads/${THREAD}`,
  `POST /threads/${THREAD}/runs/stream`,
  `GET /threads/${THREAD}/runs/${RUN}`,
])("%s is left to the server", async (route) => {
  expect(await passesGuard(guarded(route, "ana"), async () => false)).toBe(true);
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
    expect(await mayReadInProcess({ thread_id: "x" }, "bén")).toBe(may);
    const asked = requests.map(({ url, method, headers }) => [
      method,
      new URL(url).pathname,
      loopbackOwner(headers),
    ]);
    expect(asked).toEqual([["GET", "/threads/x", "bén"]]);
  });

  it("that cannot be asked lets nobody", async () => {
    expect(await mayReadInProcess({ thread_id: "x" }, "ana")).toBe(false);
  });
});
