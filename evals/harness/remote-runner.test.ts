/** The lifecycle cases against a real server; `npm run eval -- --runner remote` runs all of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lifecycleSuite } from "#evals/suites/lifecycle/suite.ts";
import { openServer, type LilyServer } from "#src/server/serve.ts";
import { openRemoteRunner } from "./remote-runner.ts";
import { runCase } from "./run-suite.ts";

let home: string;
let server: LilyServer;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "lily-remote-"));
  const env = { LILY_HOME: home, LILY_MODEL: "symbolic" };
  server = await openServer(env, home, { host: "127.0.0.1", port: 0, report: () => undefined });
});

afterAll(async () => {
  await server?.close();
  rmSync(home, { recursive: true, force: true });
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
