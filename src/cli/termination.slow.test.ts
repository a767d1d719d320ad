/** How the program ends when it is told to, and what is typed ahead and /stop do: as a process of its own, as users run it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";

const PROGRAM = fileURLToPath(new URL("./lily.mjs", import.meta.url));
const SCRIPT = "/usr/bin/script";
const PATIENCE = { timeout: 60_000, interval: 50 };

let home: string;
let models: FakeOpenAIServer;
let children: ChildProcess[];
/** The program inside a terminal, which outlives the terminal's own process. */
let inTerminal: number | undefined;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "lily-end-"));
  models = await startFakeOpenAIServer();
  children = [];
  inTerminal = undefined;
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  if (inTerminal !== undefined && isRunning(inTerminal)) process.kill(inTerminal, "SIGKILL");
  await models.close();
  rmSync(home, { recursive: true, force: true });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function run(command: string, args: readonly string[], options: { readonly stdin?: "open" } = {}) {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    LILY_HOME: home,
    TERM: "dumb",
    LANGSMITH_TRACING: "false",
    OPENAI_BASE_URL: models.baseURL,
  };
  const child = spawn(command, args, { cwd: home, env });
  children.push(child);
  const output = { out: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.out += text));
  child.stdin.on("error", () => undefined);
  if (options.stdin !== "open") child.stdin.end();
  // After its output, unlike `exit`.
  return { child, output, ended: once(child, "close") };
}

const lily = (...args: string[]) => run(process.execPath, [PROGRAM, ...args]);

/** Leases that somebody holds still, by the table of the store. */
function openLeases(): unknown[] {
  const db = new Database(join(home, "memory", "store.sqlite"), { readonly: true });
  try {
    return db.prepare("SELECT name FROM leases WHERE expires_at > ?").all(Date.now());
  } finally {
    db.close();
  }
}

/** Longer than lines that arrive together are apart. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

/** Waits until the answer that never ends is being written. */
async function untilAsked(requests: number): Promise<void> {
  await vi.waitFor(() => expect(models.requests).toHaveLength(requests), PATIENCE);
}

describe("the program that is told to end while it answers", { timeout: 120_000 }, () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)(
    "keeps what lily ask was given at %s, exits with %i, and leaves no lease",
    async (signal, code) => {
      models.enqueue({ kind: "hang", chunks: ["Once upon"] });
      const asking = lily("ask", "--json", "--delivery-id", "d1", "a tale");
      await untilAsked(1);
      asking.child.kill(signal);
      expect(await asking.ended).toEqual([code, null]);
      const reply = turnReplySchema.parse(JSON.parse(asking.output.out));
      expect(reply).toMatchObject({ outcome: "answered", status: "stopped", turn: 1 });
      expect(openLeases()).toEqual([]);

      const again = lily("ask", "--json", "--delivery-id", "d1", "a tale");
      expect(await again.ended).toEqual([0, null]);
      expect(JSON.parse(again.output.out)).toEqual({ ...reply, repeated: true });
      expect(models.requests).toHaveLength(1);
    },
  );

  it.skipIf(!existsSync(SCRIPT))(
    "keeps what the terminal was shown at SIGTERM, exits with 143, and leaves no lease (needs script of util-linux)",
    async () => {
      models.enqueue({ kind: "hang", chunks: ["Once upon"] });
      const pidFile = join(home, "pid");
      const start = `stty cols 80 rows 24; echo $$ > ${pidFile}; exec ${process.execPath} ${PROGRAM}`;
      const terminal = run(SCRIPT, ["-qefc", start, "/dev/null"], { stdin: "open" });
      await vi.waitFor(() => expect(terminal.output.out).toContain("Ctrl-D leaves"), PATIENCE);
      inTerminal = Number(readFileSync(pidFile, "utf8"));
      terminal.child.stdin.write("a tale\r");
      await untilAsked(1);
      await vi.waitFor(() => expect(terminal.output.out).toContain("Once"), PATIENCE);
      process.kill(inTerminal, "SIGTERM");
      expect(await terminal.ended).toEqual([143, null]);
      expect(openLeases()).toEqual([]);
      const listed = lily("sessions", "--json");
      await listed.ended;
      expect(JSON.parse(listed.output.out)).toMatchObject({
        data: { keys: [{ sessionKey: "cli:main", sessions: [{ turns: 1 }] }] },
      });
    },
  );
});

describe.skipIf(!existsSync(SCRIPT))(
  "a terminal in which somebody types ahead (needs script of util-linux)",
  { timeout: 120_000 },
  () => {
    /** A program in a terminal of its own that stands at its prompt. */
    async function open() {
      const start = `stty cols 80 rows 24; exec ${process.execPath} ${PROGRAM}`;
      const terminal = run(SCRIPT, ["-qefc", start, "/dev/null"], { stdin: "open" });
      const shows = (text: string): Promise<void> =>
        vi.waitFor(() => expect(terminal.output.out).toContain(text), PATIENCE);
      await shows("Ctrl-D leaves");
      /** Lines that come together are one message, so a person's are apart. */
      const type = async (...lines: readonly string[]): Promise<void> => {
        for (const line of lines) {
          terminal.child.stdin.write(line);
          await pause();
        }
      };
      return { ...terminal, shows, type };
    }

    async function listed(...args: string[]): Promise<string> {
      const listing = lily(...args, "--json");
      await listing.ended;
      return listing.output.out;
    }

    it("answers lines and commands in the order in which they were typed, /new too", async () => {
      let answer: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (answer = resolve));
      models.always(async () => {
        if (models.requests.length === 1) await held;
        return { kind: "text", chunks: [models.requests.length === 1 ? "First tale." : "Second tale."] };
      });
      const terminal = await open();
      await terminal.type("one\r");
      await untilAsked(1);
      await terminal.type("/title Before\r", "/new\r", "two\r", "/title Behind\r");
      answer();
      await terminal.shows("Second tale.");
      await terminal.shows("Behind");
      await terminal.type("\u0004");
      expect(await terminal.ended).toEqual([0, null]);
      const { data } = JSON.parse(await listed("sessions")) as { data: { keys: { sessions: object[] }[] } };
      expect(data.keys[0]?.sessions).toMatchObject([
        { title: "Before", turns: 2 },
        { title: "Behind", turns: 2 },
      ]);
    });

    it("/stop ends the answer that is written, though more was typed before it", async () => {
      models.enqueue({ kind: "hang", chunks: ["Once upon"] }, { kind: "text", chunks: ["Done."] });
      const terminal = await open();
      await terminal.type("a tale\r");
      await terminal.shows("Once");
      await terminal.type("go on\r", "/stop\r");
      await terminal.shows("Stopped.");
      await terminal.shows("Done.");
      await terminal.type("\u0004");
      expect(await terminal.ended).toEqual([0, null]);
    });

    it("/stop in a terminal that waits ends the other program's answer, and its own message is answered", async () => {
      models.enqueue({ kind: "hang", chunks: ["Once upon"] }, { kind: "text", chunks: ["Done."] });
      const other = lily("ask", "--json", "a tale");
      await untilAsked(1);
      const terminal = await open();
      await terminal.type("and I?\r");
      await terminal.shows("waiting");
      await terminal.type("/stop\r");
      expect(await other.ended).toEqual([0, null]);
      expect(JSON.parse(other.output.out)).toMatchObject({ status: "stopped" });
      await terminal.shows("Done.");
      await terminal.type("\u0004");
      expect(await terminal.ended).toEqual([0, null]);
    });
  },
);
