import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createOutsideTools, type OutsideTools, type OutsideToolsOptions } from "./outside-tools.ts";
import { startHttpMcp, stdioServer } from "./testing/start-mcp.ts";
import { DOT } from "./testing/mcp-server.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

function open(
  servers: OutsideToolsOptions["servers"],
  options: Partial<OutsideToolsOptions> = {},
): OutsideTools {
  const outside = createOutsideTools({
    connectMs: 20_000,
    callMs: 20_000,
    builtIn: [],
    env: {},
    cwd: tmpdir(),
    monotonic: () => performance.now(),
    ...options,
    servers,
  });
  if (outside === undefined) throw new Error("nothing is configured");
  opened.push(outside);
  return outside;
}

/** Processes of the test server that run. */
const running = (): number =>
  spawnSync("pgrep", ["-f", "-P", String(process.pid), "mcp-worker"])
    .stdout.toString()
    .split("\n")
    .filter(Boolean).length;

/** The system tells a process that has ended a moment later. */
const noneRuns = (): Promise<void> => vi.waitFor(() => expect(running()).toBe(0), 5_000);

const namesIn = async (outside: OutsideTools): Promise<string[]> =>
  (await outside.list()).flatMap(({ tools }) => tools.map(({ name }) => name));

/** The test server over HTTP, as settings. */
async function httpServer(options: Parameters<typeof startHttpMcp>[0] = {}) {
  const server = await startHttpMcp(options);
  opened.push(server);
  return { type: "http" as const, url: server.url, headers: {} };
}

describe("an MCP server over stdio", () => {
  it("is begun when its tools are asked for with the variables that are configured, and ends with the program", async () => {
    const outside = open(
      { my: stdioServer("one", { GREETING: "${HOW:-nicely}, ${WHO}" }) },
      { env: { WHO: "Ada" } },
    );
    expect(outside.known()).toEqual([{ name: "my", state: "idle", tools: [], problems: [] }]);
    expect(running()).toBe(0);
    expect(await namesIn(outside)).toContain("my__greet");
    const said = await outside.call({ source: "my", tool: "greet" }, { name: "you" });
    expect(said).toBe(`hello you, nicely, Ada, ${realpathSync(tmpdir())}`);
    expect(running()).toBe(1);
    await outside.close();
    await noneRuns();
  });

  it("gives 5 MB whole, and is begun anew by the next call when it has crashed", async () => {
    const outside = open({ my: stdioServer() });
    const said = await outside.call({ source: "my", tool: "big" }, {});
    expect(said).toHaveLength(5_000_007);
    await expect(outside.call({ source: "my", tool: "crash" }, {})).rejects.toThrow();
    expect(await outside.call({ source: "my", tool: "write" }, {})).toBe("written");
    expect(running()).toBe(1);
  });

  it("tells of a tool that came, and of one that it never had", async () => {
    const outside = open({ my: stdioServer() });
    expect(await namesIn(outside)).not.toContain("my__grown");
    await outside.call({ source: "my", tool: "grow" }, {});
    expect(await namesIn(outside)).toContain("my__grown");
    await expect(outside.call({ source: "my", tool: "none" }, {})).rejects.toThrow(
      "the server has no such tool any more",
    );
  });
});

describe("an MCP server", () => {
  it("tells its tools with their arguments and hints", async () => {
    const [state] = await open({ my: await httpServer() }).list();
    expect(state).toMatchObject({ name: "my", state: "ready", problems: [] });
    expect(state?.tools.find(({ tool }) => tool === "greet")).toMatchObject({
      name: "my__greet",
      description: "Greets (one).",
      schema: { properties: { name: { type: "string" } }, required: ["name"] },
      annotations: { readOnlyHint: true },
    });
  });

  it("gives pictures and files as parts, and says in words what is none, and why a tool failed", async () => {
    const outside = open({ my: await httpServer() });
    const parts = await outside.call({ source: "my", tool: "picture" }, {});
    expect(parts).toEqual([
      { type: "text", text: "a dot:" },
      { type: "image", data: DOT, mime_type: "image/png" },
      { type: "file", data: DOT, mime_type: "application/octet-stream" },
      { type: "text", text: "a note" },
      { type: "text", text: "[a resource at file:///etc/hosts]" },
    ]);
    await expect(outside.call({ source: "my", tool: "fail" }, {})).rejects.toThrow("the disk is full");
  });

  it("that never answers a call is left at the limit, and at the end of the turn", async () => {
    const outside = open({ my: await httpServer() }, { callMs: 100 });
    await outside.list();
    await expect(outside.call({ source: "my", tool: "hang" }, {})).rejects.toThrow(
      "it did not answer within 0.1 s; it may or may not have taken effect",
    );
    const stop = new AbortController();
    const asked = outside.call({ source: "my", tool: "hang" }, {}, stop.signal);
    stop.abort(new Error("stopped"));
    await expect(asked).rejects.toThrow("stopped");
  });

  it("is told to models by names that they take, none twice", async () => {
    const names = await namesIn(open({ "my server/1": await httpServer() }));
    expect(names).toContain("my_server_1__greet");
    expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/u.test(name))).toBe(true);
  });
});

describe("a server that cannot be used", () => {
  it("is told with its reason, and the others are there", async () => {
    const outside = open({
      broken: stdioServer("broken"),
      missing: { command: "/nowhere/at-all", args: [], env: {} },
      secret: stdioServer("one", { KEY: "${NOT_SET}" }),
      off: { ...stdioServer(), disabled: true },
      good: await httpServer(),
    });
    const states = await outside.list();
    const problems = Object.fromEntries(
      states.map(({ name, state, problems }) => [name, [state, ...problems]]),
    );
    expect(problems).toEqual({
      broken: ["failed", expect.stringMatching(/^failed: .*; it said: no license found$/u)],
      missing: ["failed", expect.stringContaining("ENOENT")],
      secret: ["failed", "the variable NOT_SET is not set"],
      good: ["ready"],
    });
    await outside.close();
    await noneRuns();
  });

  it("is ended when it does not come to an end", async () => {
    const outside = open(
      { hang: stdioServer("hang"), endless: stdioServer("endless") },
      { connectMs: 1_000 },
    );
    const states = await outside.list();
    expect(states.map(({ state, problems }) => [state, ...problems])).toEqual([
      ["failed", "did not answer within 1 s"],
      ["failed", "did not answer within 1 s"],
    ]);
    await outside.close();
    await noneRuns();
  });

  it("is tried again after a pause, or when a person asks", async () => {
    let now = 0;
    let tries = 0;
    const broken = { command: "/nowhere", args: [], env: {} };
    const env = new Proxy({}, { get: () => String((tries += 1)) });
    const outside = open({ broken: { ...broken, env: { TRY: "${TRY}" } } }, { env, monotonic: () => now });
    await outside.list();
    await outside.list();
    expect(tries).toBe(1);
    await outside.list({ isAsked: true });
    expect(tries).toBe(2);
    now = 61_000;
    await outside.list();
    expect(tries).toBe(3);
  });
});

describe("an MCP server over HTTP", () => {
  it("is reached with the configured headers, and anew when it is back", async () => {
    const server = await startHttpMcp();
    const web = { type: "http" as const, url: server.url, headers: { Authorization: "Bearer ${TOKEN}" } };
    const outside = open({ web }, { env: { TOKEN: "t0" } });
    expect(await namesIn(outside)).toContain("web__greet");
    expect(await outside.call({ source: "web", tool: "write" }, {})).toBe("written");
    expect(new Set(server.headers)).toEqual(new Set(["Bearer t0"]));
    await server.close();
    await expect(outside.call({ source: "web", tool: "write" }, {})).rejects.toThrow();
    const again = await startHttpMcp({ port: server.port });
    opened.push(again);
    expect(await outside.call({ source: "web", tool: "write" }, {})).toBe("written");
  });

  it("gives 5 MB whole; at far more the call ends, in words, and the next one is answered", async () => {
    const server = await startHttpMcp();
    opened.push(server);
    const outside = open({ web: { type: "http", url: server.url, headers: {} } });
    expect(String(await outside.call({ source: "web", tool: "big" }, {}))).toHaveLength(5_000_007);
    await expect(outside.call({ source: "web", tool: "huge" }, {})).rejects.toThrow(
      "it answered with more than 32 MB",
    );
    expect(await outside.call({ source: "web", tool: "write" }, {})).toBe("written");
  });

  it("that is silent, or is none, is told", async () => {
    const silent = await startHttpMcp({ isSilent: true });
    opened.push(silent);
    const outside = open(
      {
        silent: { type: "http", url: silent.url, headers: {} },
        old: { type: "sse", url: silent.url, headers: {} },
        none: { type: "http", url: "ftp://x", headers: {} },
        closed: { type: "http", url: "http://127.0.0.1:1/mcp", headers: {} },
      },
      { connectMs: 200 },
    );
    expect((await outside.list()).map(({ state, problems }) => [state, ...problems])).toEqual([
      ["failed", "did not answer within 0.2 s"],
      ["failed", "did not answer within 0.2 s"],
      ["failed", expect.stringContaining("has an address that is none")],
      ["failed", expect.stringMatching(/^failed: /u)],
    ]);
  });
});
