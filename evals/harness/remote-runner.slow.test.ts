/** The lifecycle cases against a real server; `npm run eval -- --runner remote` runs all of them. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { lifecycleSuite } from "#evals/suites/lifecycle/suite.ts";
import { startDevServer, type DevServer } from "#graphs/server/testing/dev-server.ts";
import { openRemoteRunner } from "./remote-runner.ts";
import { runCase } from "./run-suite.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

let server: DevServer;

beforeAll(async () => {
  server = await startDevServer({ LILY_MODEL: "symbolic" });
}, 70_000);

afterAll(async () => {
  await server?.stop();
});

/** Cases of the suite with how they end here: time cannot be moved on a server. */
const SAMPLE = [
  ["session_new_hard_cut_creates_segment", "passed"],
  ["resume_of_nothing_changes_nothing", "passed"],
  ["session_rollover_temporal_expired", "skipped"],
] as const;

describe("a remote runner", () => {
  it("opens a session, ends it, and shows and proves what is stored of both", async () => {
    const runner = await openRemoteRunner({ url: server.url });
    const first = await runner.send("remote:one", "The boat is called Albatross.");
    const second = await runner.send("remote:one", "/new What did I call the boat?");
    expect([first.outcome, second.outcome]).toEqual(["answered", "answered"]);
    const sessions = await runner.sessions("remote:one");
    expect(sessions.map(({ sealed, latest, turns, reason }) => ({ sealed, latest, turns, reason }))).toEqual([
      { sealed: true, latest: false, turns: 1, reason: "first" },
      { sealed: false, latest: true, turns: 1, reason: "command" },
    ]);
    const [turn] = await runner.history(first.sessionId);
    expect(turn?.messages[0]).toEqual({ role: "user", content: "The boat is called Albatross." });
    expect(await runner.verify("remote:one")).toEqual({ ok: true, problems: [] });
    expect(await runner.history("no such session")).toEqual([]);
  });

  it("answers a delivery that comes again from what is stored", async () => {
    const runner = await openRemoteRunner({ url: server.url });
    const first = await runner.send("remote:again", "hello", { deliveryId: "d-1" });
    expect(await runner.send("remote:again", "hello", { deliveryId: "d-1" })).toEqual({
      ...first,
      repeated: true,
    });
  });

  it.each(SAMPLE)("runs the case %s, which is %s", async (id, wanted) => {
    const evalCase = lifecycleSuite.cases.find((candidate) => candidate.id === id);
    if (evalCase === undefined) throw new Error(`no case ${id}`);
    const ended = await runCase(lifecycleSuite, evalCase, () => openRemoteRunner({ url: server.url }));
    expect(ended).toMatchObject({ result: wanted });
  });

  it("says which server does not answer", async () => {
    await expect(openRemoteRunner({ url: "http://127.0.0.1:9" })).rejects.toThrow("http://127.0.0.1:9");
  });
});
