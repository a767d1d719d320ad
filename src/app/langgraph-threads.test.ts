import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createLangGraphThreads, type ConnectThreads, type ThreadClient } from "./langgraph-threads.ts";
import { loopbackOwner } from "./loopback.ts";

const LOOPBACK = Symbol.for("langgraph_api:fetch");
const thread = { sessionId: "01890000-0000-7000-8000-000000000001", owner: "mara", sessionKey: "cli:main" };
const message = { id: "m1", content: "plan dinner" };

function recordingClient() {
  const create = vi.fn<(asked: { metadata: object }) => Promise<unknown>>(async ({ metadata }) => ({
    metadata,
  }));
  const update = vi.fn<(...args: unknown[]) => Promise<unknown>>(async () => ({}));
  const run = vi.fn<(...args: unknown[]) => Promise<unknown>>(async () => ({}));
  // Of the answers only the metadata are looked at.
  const client = { threads: { create, update }, runs: { create: run } } as unknown as ThreadClient;
  const connect = vi.fn<ConnectThreads>(async () => client);
  return { create, update, run, connect };
}

describe("on a LangGraph server", () => {
  beforeEach(() => void Reflect.set(globalThis, LOOPBACK, () => undefined));
  afterEach(() => void Reflect.deleteProperty(globalThis, LOOPBACK));

  it("makes the thread known with its key and owner, and starts no run without a message", async () => {
    const { create, update, run, connect } = recordingClient();
    await createLangGraphThreads(connect).start(thread);
    expect(create.mock.calls).toEqual([
      [
        {
          threadId: thread.sessionId,
          graphId: "session",
          ifExists: "do_nothing",
          metadata: { session_key: "cli:main", owner: "mara", sealed: false },
        },
      ],
    ]);
    expect(run).not.toHaveBeenCalled();
    expect(update).not.toHaveBeenCalled();
  });

  it("says of a thread that is there already whether its session has ended", async () => {
    const { create, update, connect } = recordingClient();
    create.mockResolvedValueOnce({ metadata: { session_key: "cli:main", owner: "mara", sealed: false } });
    await createLangGraphThreads(connect).label({ ...thread, sealed: true });
    expect(update.mock.calls).toEqual([
      [thread.sessionId, { metadata: { session_key: "cli:main", owner: "mara", sealed: true } }],
    ]);
  });

  it("goes on where a label cannot be written", async () => {
    const { update, create, connect } = recordingClient();
    create.mockRejectedValueOnce(new Error("409"));
    await createLangGraphThreads(connect).label({ ...thread, sealed: true });
    expect(update).not.toHaveBeenCalled();
  });

  it("enqueues a resumable run with the message under the same key and owner", async () => {
    const { run, connect } = recordingClient();
    await createLangGraphThreads(connect).start({ ...thread, message });
    expect(run).toHaveBeenCalledExactlyOnceWith(
      thread.sessionId,
      "session",
      expect.objectContaining({
        input: { messages: [{ type: "human", id: "m1", content: "plan dinner" }] },
        context: { owner: "mara", sessionKey: "cli:main" },
        streamResumable: true,
        multitaskStrategy: "enqueue",
      }),
    );
  });

  it("acts for the owner of each session, by headers that the server does not store", async () => {
    const { connect } = recordingClient();
    const threads = createLangGraphThreads(connect);
    await Promise.all([threads.start(thread), threads.start({ ...thread, owner: "Ana, Müller" })]);
    const sent = connect.mock.calls.map(([headers]) => headers);
    expect(sent.map((headers) => loopbackOwner(new Headers(headers)))).toEqual(["mara", "Ana, Müller"]);
    expect(sent.flatMap((headers) => Object.keys(headers)).filter((name) => /^x-/iu.test(name))).toEqual([]);
  });

  it("sends those headers with each request of the real client, and no key from the environment", async () => {
    const requests: Request[] = [];
    Reflect.set(globalThis, LOOPBACK, async (url: string | URL, init?: RequestInit) => {
      requests.push(new Request(url, init));
      return Response.json({ metadata: { session_key: "cli:main", owner: "mara", sealed: false } });
    });
    vi.stubEnv("LANGSMITH_API_KEY", "lsv2_from_the_environment");
    await createLangGraphThreads().start({ ...thread, message });
    vi.unstubAllEnvs();
    expect(requests.map(({ url, method }) => `${method} ${new URL(url).pathname}`)).toEqual([
      "POST /threads",
      `POST /threads/${thread.sessionId}/runs`,
    ]);
    expect(requests.map(({ headers }) => loopbackOwner(headers))).toEqual(["mara", "mara"]);
    expect(requests.map(({ headers }) => headers.get("x-api-key"))).toEqual([null, null]);
  });

  it("says when the server refuses", async () => {
    const { create, connect } = recordingClient();
    create.mockRejectedValueOnce(new Error("403"));
    await expect(createLangGraphThreads(connect).start(thread)).rejects.toThrow("403");
  });
});

describe("outside of a LangGraph server", () => {
  it("does nothing", async () => {
    const { connect } = recordingClient();
    await createLangGraphThreads(connect).start({ ...thread, message });
    await createLangGraphThreads(connect).label({ ...thread, sealed: true });
    expect(connect).not.toHaveBeenCalled();
  });
});
