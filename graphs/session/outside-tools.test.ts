/** Tools of MCP servers in whole turns: a session has them as they were when it began, and a server that fails stops no turn. */
import { tmpdir } from "node:os";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { approvalIn } from "#src/tools/approval.ts";
import {
  createOutsideTools,
  type DescribedTool,
  type OutsideTools,
  type ToolSourceState,
} from "#src/tools/outside-tools.ts";
import { startHttpMcp, stdioServer } from "#src/tools/testing/start-mcp.ts";
import {
  createHarness,
  echoModel,
  KEY,
  OWNER,
  type Harness,
  type HarnessOptions,
} from "./testing/harness.ts";
import { onFilesOf } from "./testing/on-files-of.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

const described = (name: string, description = `Does ${name}.`): DescribedTool => ({
  name: `my__${name}`,
  description,
  schema: { type: "object", properties: { what: { type: "string" } } },
  tool: name,
  annotations: { readOnlyHint: true },
});

/** Sources that a test changes. */
function fakeOutside(...tools: DescribedTool[]) {
  let state: ToolSourceState = { name: "my", state: "ready", tools, problems: [] };
  let lists = 0;
  const outside: OutsideTools = {
    known: () => [state],
    async list() {
      lists += 1;
      return [state];
    },
    async call({ tool }, args) {
      if (!state.tools.some((known) => known.tool === tool))
        throw new Error("the server has no such tool any more");
      return `${tool} did ${JSON.stringify(args)}`;
    },
    close: async () => undefined,
  };
  return {
    outside,
    lists: () => lists,
    set: (...now: DescribedTool[]) => (state = { ...state, state: "ready", tools: now }),
    fail: (why: string) => (state = { ...state, state: "failed", tools: [], problems: [why] }),
  };
}

const using =
  (outside: OutsideTools | undefined): NonNullable<HarnessOptions["adjust"]> =>
  (deps) => ({ ...deps, ...(outside === undefined ? {} : { outside }) });

const namesGiven = (model: ScriptedChatModel): readonly string[] =>
  (model.calls.at(-1)?.toolNames ?? []).filter((name) => name.startsWith("my__"));

async function fieldsOf(lily: Harness): Promise<Partial<SessionFields>> {
  const { latest } = await lily.chain();
  const state = await lily.sessions.graph.getState({ configurable: { thread_id: latest } });
  const { session } = state.values as { session: SessionFields };
  const { turns: _t, head: _h, lastActivityAt: _l, expiresAt: _e, firstActivityAt: _f, ...rest } = session;
  return rest;
}

const calling = (name: string, args: Record<string, unknown> = {}) =>
  new ScriptedChatModel([{ toolCalls: [{ id: "c1", name, args }] }, "done"]);

describe("the tools of a session", () => {
  it("are those that its servers told when it began, whatever they tell later and across a restart", async () => {
    const fake = fakeOutside(described("look"));
    const model = echoModel();
    const lily = await start({ model, adjust: using(fake.outside) });
    await lily.send("hello");
    expect(namesGiven(model)).toEqual(["my__look"]);
    fake.set(described("look", "Does else."), described("more"));
    await lily.send("and now?");
    expect(namesGiven(model)).toEqual(["my__look"]);
    await lily.restart();
    await lily.send("and now?");
    expect(namesGiven(model)).toEqual(["my__look"]);
    await lily.send("/new and now?");
    expect(namesGiven(model)).toEqual(["my__look", "my__more"]);
  });

  it("are stored once: sessions hold names and hashes", async () => {
    const fake = fakeOutside(described("look", "Looks for Zebulon."));
    const lily = await start({ model: echoModel(), adjust: using(fake.outside) });
    await lily.send("hello");
    await lily.send("/new hello");
    const items = await lily.storage.store.search([], { limit: 1_000 });
    const holding = items.filter(({ value }) => JSON.stringify(value).includes("Zebulon"));
    expect(holding.length).toBeLessThanOrEqual(1);
    expect((await fieldsOf(lily)).toolSnapshot?.sources).toEqual([
      { name: "my", hash: expect.stringMatching(/^[0-9a-f]{64}$/u) },
    ]);
  });

  it("are asked for by no command that reads, and by no session without a model for them", async () => {
    const fake = fakeOutside(described("look"));
    const lily = await start({ model: echoModel(), adjust: using(fake.outside) });
    await lily.send("/status");
    await lily.send("/help");
    expect(fake.lists()).toBe(0);
    const without = await start({
      model: echoModel(),
      adjust: using(fake.outside),
      config: { agents: { defaults: { tools: false } } },
    });
    await without.send("hello");
    expect(fake.lists()).toBe(0);
  });

  it("that vanished answer the model with an error, and the turn goes on", async () => {
    const fake = fakeOutside(described("look"));
    const model = calling("my__look");
    const lily = await start({ model, adjust: using(fake.outside) });
    await lily.send("/title x");
    fake.set();
    expect((await lily.send("look")).envelope.message).toBe("done");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain("the server has no such tool any more");
  });
});

describe("/tools", () => {
  it("tells which tools have no room: descriptions take a fifth of a prompt, the first tools first", async () => {
    const fake = fakeOutside(described("a"), described("b", "Word. ".repeat(2_000)), described("c"));
    const model = echoModel();
    const lily = await start({ model, adjust: using(fake.outside) });
    await lily.send("hello");
    expect(namesGiven(model)).toEqual(["my__a"]);
    const { text } = (await lily.send("/tools")).envelope;
    expect(text).toContain("| my__a | my | ready | runs |");
    expect(text).toContain("| my__b | my | ready; has no room in prompts | runs |");
    expect(text).toContain("| my__c | my | ready; has no room in prompts | runs |");
  });
});

describe("Lily's own tools", () => {
  it("are named by what they work on, and are understood by the names that they had; rules hold for both", async () => {
    const config = { memory: { tool: true } };
    const named = echoModel();
    await (await start({ model: named, config })).send("hello");
    const names = named.calls[0]?.toolNames ?? [];
    expect(names).toEqual(expect.arrayContaining(["session_recall", "memory_search", "memory_remember"]));
    const model = calling("search_memory", { query: "cello" });
    await (await start({ model, config })).send("do I play?");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain("Nothing that is remembered fits");
    const denied = calling("search_memory", { query: "cello" });
    const tools = { policy: { memory_search: "deny" } };
    await (await start({ model: denied, config: { ...config, tools } })).send("do I play?");
    expect(JSON.stringify(denied.calls.at(-1)?.messages)).toContain("do not allow memory_search");
  });
});

describe("/reload_tools", () => {
  it("shows what differs, and gives this session the tools as their servers tell of them now", async () => {
    const fake = fakeOutside(described("look"), described("old"));
    const model = echoModel();
    const lily = await start({ model, adjust: using(fake.outside) });
    await lily.send("hello");
    expect((await lily.send("/reload_tools")).envelope.code).toBe("tools_same");
    fake.set(described("look", "Looks closely."), described("more"));
    expect((await lily.send("/status")).envelope.data).toMatchObject({ differs: { tools: true } });
    const told = (await lily.send("/tools")).envelope;
    expect(told.data).toMatchObject({ differs: true });
    expect(told.text).toContain("| my__look | my | ready; changed since | runs |");
    expect(told.text).toContain("| my__old | my | gone since | runs |");
    expect(told.text).toContain("| my__more | my | new since, not in this conversation | runs |");
    const { envelope, turn } = await lily.send("/reload_tools");
    expect({ code: envelope.code, turn }).toEqual({ code: "tools_reloaded", turn: 2 });
    expect(envelope.text).toContain("-Does look.\n+Looks closely.");
    expect(envelope.text).toContain("**my__more** is new.");
    expect(envelope.text).toContain("**my__old** is gone.");
    await lily.restart();
    await lily.send("hello");
    expect(namesGiven(model)).toEqual(["my__look", "my__more"]);
  });

  it("keeps the tools of a server that does not answer", async () => {
    const fake = fakeOutside(described("look"));
    const model = echoModel();
    const lily = await start({ model, adjust: using(fake.outside) });
    await lily.send("hello");
    fake.fail("did not answer within 10 s");
    const { envelope } = await lily.send("/reload_tools");
    expect(envelope.code).toBe("tools_same");
    expect(envelope.text).toContain("| my | did not answer within 10 s |");
    expect((await lily.send("/tools")).envelope.text).toContain("its server does not answer");
    await lily.send("hello");
    expect(namesGiven(model)).toEqual(["my__look"]);
  });

  it("asks again about a tool that the person let run, where it is another one by now", async () => {
    const write = (description: string) => ({ ...described("write", description), annotations: {} });
    const fake = fakeOutside(write("Writes."), { ...described("other"), annotations: {} });
    const model = new ScriptedChatModel((messages) => {
      const last = messages.at(-1);
      if (last?.type !== "human") return { text: "done" };
      return { toolCalls: [{ id: "c1", name: `my__${last.text}`, args: {} }] };
    });
    const lily = await start({ model, adjust: using(fake.outside) });
    for (const name of ["write", "other"]) {
      const id = approvalIn((await lily.send(name)).envelope.data)?.id ?? "";
      const decision = { type: "approve", always: true } as const;
      await lily.sessions.approve({ owner: OWNER, sessionKey: KEY, id, decision });
    }
    fake.fail("is away");
    await lily.send("/reload_tools");
    fake.set(write("Writes elsewhere."), { ...described("other"), annotations: {} });
    expect((await lily.send("write")).envelope.message).toBe("done");
    expect((await lily.send("/reload_tools")).envelope.text).toContain("**my__write**: you are asked again");
    expect((await lily.send("write")).envelope.code).toBe("turn_waiting");
    await lily.restart();
    expect((await lily.send("other")).envelope.message).toBe("done");
    expect((await fieldsOf(lily)).approvedTools).toEqual(["my__other"]);
  });

  const said = fc.constantFrom(
    "hello",
    "/style short",
    "/title Trip",
    "/agent coder",
    "/task apollo",
    "/todo milk",
  );
  const lists = fc.subarray([described("look"), described("more"), described("look2", "Else.")]);

  it("changes its own field of the session and no other, whatever was said before", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(said, { maxLength: 3 }), lists, lists, async (texts, first, then) => {
        const fake = fakeOutside(...first);
        const lily = await createHarness({
          model: echoModel(),
          adjust: using(fake.outside),
          config: { agents: { coder: {} } },
        });
        try {
          await lily.send("hello");
          for (const text of texts) await lily.send(text);
          const before = await fieldsOf(lily);
          fake.set(...then);
          await lily.send("/reload_tools");
          await lily.send("and?");
          const after = await fieldsOf(lily);
          expect({ ...after, toolSnapshot: undefined }).toEqual({ ...before, toolSnapshot: undefined });
        } finally {
          await lily.close();
        }
      }),
      { numRuns: 6 },
    );
  });
});

describe("a real MCP server in a turn", () => {
  const real = (servers: Parameters<typeof createOutsideTools>[0]["servers"], connectMs = 20_000) => {
    const outside = createOutsideTools({
      servers,
      connectMs,
      callMs: 20_000,
      builtIn: [],
      env: {},
      cwd: tmpdir(),
      monotonic: () => 0,
    });
    if (outside !== undefined) opened.push(outside);
    return using(outside);
  };
  const http = async (options: Parameters<typeof startHttpMcp>[0] = {}) => {
    const server = await startHttpMcp(options);
    opened.push(server);
    return { type: "http" as const, url: server.url, headers: {} };
  };

  it("is called with the model's arguments; gives a picture as a part that is kept, and 5 MB as a result that read_result reads on", async () => {
    const model = new ScriptedChatModel([
      {
        toolCalls: [
          { id: "c1", name: "my__picture", args: {} },
          { id: "c2", name: "my__big", args: {} },
          { id: "c3", name: "my__greet", args: { name: "Ada" } },
        ],
      },
      "done",
    ]);
    const lily = await start({ model, adjust: real({ my: await http() }) });
    await lily.send("show");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain("hello Ada, no greeting");
    const [turn] = await lily.turns((await lily.chain()).latest);
    const results = turn?.messages.filter(({ role }) => role === "tool").map(({ content }) => content) ?? [];
    expect(results[0]).toMatch(/a dot:\n\[.*image\/png.*\] kept as result [0-9a-f]{64}/u);
    expect(results[1]).toMatch(/characters left out; kept as result [0-9a-f]{64}; go on from 8000\]/u);
    expect(results[1]?.length).toBeLessThan(20_000);
  });

  it.each<[what: string, answer: () => unknown]>([
    ["a picture", () => [{ type: "image", data: "AAAA".repeat(60_000), mime_type: "image/png" }]],
    [
      "a picture over the limit",
      () => [{ type: "image", data: "AAAA".repeat(90_000), mime_type: "image/png" }],
    ],
    ["a long text", () => "0123456789".repeat(50_000)],
    [
      "a long error",
      () => {
        throw new Error("0123456789".repeat(50_000));
      },
    ],
  ])("leaves little in state, checkpoint and transcript of %s", async (_what, answer) => {
    const { outside } = fakeOutside(described("look"));
    const model = calling("my__look");
    const lily = await start({
      model,
      adjust: using({ ...outside, call: async () => answer() }),
      config: { limits: { attachmentBytes: 200_000 } },
    });
    expect((await lily.send("look")).envelope.message).toBe("done");
    const items = await lily.storage.store.search([], { limit: 1_000 });
    const sizes = items
      .filter(({ namespace }) => namespace[0] !== "blobs")
      .map(({ value }) => JSON.stringify(value).length);
    expect(Math.max(...sizes)).toBeLessThan(60_000);
    const { latest } = await lily.chain();
    const tuple = await lily.storage.checkpointer.getTuple({ configurable: { thread_id: latest } });
    expect(JSON.stringify(tuple).length).toBeLessThan(60_000);
    expect(JSON.stringify(model.calls.at(-1)?.messages).length).toBeLessThan(60_000);
  });

  it("is asked about before it writes, and writes in the process in which the person says yes", async () => {
    const servers = { my: await http() };
    const model = calling("my__write");
    const one = await start({ model, adjust: real(servers) });
    const waiting = await one.send("hello");
    const approval = approvalIn(waiting.envelope.data);
    expect(approval).toMatchObject({
      tool: "my__write",
      server: "my",
      description: "Writes.",
      changes: true,
    });
    const other = await start({ model, adjust: real(servers), wrapStorage: onFilesOf(one) });
    const id = approval?.id ?? "";
    const answer = { owner: OWNER, sessionKey: KEY, id, decision: { type: "approve" } } as const;
    expect((await other.sessions.approve(answer)).envelope.message).toBe("done");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain("written");
  }, 60_000);

  it("that crashes in a call is told to the model; one that is broken stops no turn", async () => {
    const model = calling("my__crash");
    const servers = { my: stdioServer(), broken: stdioServer("broken") };
    const lily = await start({
      model,
      adjust: real(servers, 30_000),
      config: { tools: { policy: { "my/crash": "allow" } } },
    });
    expect((await lily.send("hello")).envelope.message).toBe("done");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain("Connection closed");
    const { text } = (await lily.send("/tools")).envelope;
    expect(text).toContain("| broken | ");
    expect(text).toContain("it said: no license found");
    expect(text).toContain("| my__greet | my | ready | runs |");
    expect(text).toContain("| my__write | my | ready | you are asked |");
  }, 60_000);

  it("that hangs stops no turn", async () => {
    const lily = await start({
      model: calling("my__greet"),
      adjust: real({ hangs: await http({ isSilent: true }) }, 500),
    });
    expect((await lily.send("hello")).envelope.message).toBe("done");
    expect((await lily.send("/tools")).envelope.text).toContain("| hangs | did not answer within 0.5 s |");
  });
});
