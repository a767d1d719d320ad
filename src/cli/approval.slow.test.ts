/** The question about a call of a tool, in a terminal that is killed, and in the next one. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";

const PROGRAM = fileURLToPath(new URL("./lily.mjs", import.meta.url));
const SCRIPT = "/usr/bin/script";
const CTRL_C = "\u0003";

let home: string;
let models: FakeOpenAIServer;
let children: ChildProcess[];
let pids: number[];

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "lily-approval-"));
  writeFileSync(join(home, "config.json"), JSON.stringify({ tools: { policy: { session_note: "ask" } } }));
  models = await startFakeOpenAIServer();
  const note = { id: "c", name: "session_note", arguments: '{"kind":"task","text":"water the plants"}' };
  models.enqueue({ kind: "toolCalls", calls: [note] });
  children = [];
  pids = [];
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const pid of pids) kill(pid);
  await models.close();
  rmSync(home, { recursive: true, force: true });
});

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Lily in a terminal. */
async function terminal() {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    LILY_HOME: home,
    TERM: "dumb",
    LANGSMITH_TRACING: "false",
    OPENAI_BASE_URL: models.baseURL,
  };
  const pidFile = join(home, `pid-${pids.length}`);
  const start = `stty cols 80 rows 24; echo $$ > ${pidFile}; exec ${process.execPath} ${PROGRAM}`;
  const child = spawn(SCRIPT, ["-qefc", start, "/dev/null"], { cwd: home, env });
  children.push(child);
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stdin.on("error", () => undefined);
  const shows = (text: string): Promise<void> =>
    vi.waitFor(() => expect(out).toContain(text), { timeout: 60_000, interval: 50 });
  // The conversation is open once it says which one it is.
  await shows("cli:main");
  const pid = Number(readFileSync(pidFile, "utf8"));
  pids.push(pid);
  return { shows, pid, type: (text: string) => void child.stdin.write(text), ended: once(child, "close") };
}

/** What the model was told last. */
const told = (): string => JSON.stringify(models.requests.at(-1)?.body["messages"]);

describe.skipIf(!existsSync(SCRIPT))("a question in a terminal", { timeout: 180_000 }, () => {
  it("is there after kill -9, in the next terminal, and the tool runs once it is answered there", async () => {
    const first = await terminal();
    first.type("note it\r");
    await first.shows("May session_note run?");
    await first.shows('"text": "water the plants"');
    process.kill(first.pid, "SIGKILL");
    await first.ended;
    const second = await terminal();
    await second.shows("May session_note run?");
    second.type("yes\r");
    await second.shows("ok");
    expect(models.requests).toHaveLength(2);
    expect(told()).toContain("Noted as task 1.");
  });

  it("is answered with no by Ctrl-C, also when something is typed, and the conversation goes on", async () => {
    const { type, shows } = await terminal();
    type("note it\r");
    await shows("May session_note run?");
    type("ye");
    type(CTRL_C);
    await shows("ok");
    expect(told()).toContain("did not approve session_note");
    models.enqueue({ kind: "text", chunks: ["still here"] });
    type("hello\r");
    await shows("still here");
  });
});
