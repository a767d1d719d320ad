import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { runLine } from "./testing/run-cli.ts";

const PROGRAM = fileURLToPath(new URL("./lily.mjs", import.meta.url));
const TIMEOUT_MS = 120_000;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lily-cli-"));
});

/** Runs `lily` in the test's home folder with `stdin` as a pipe. */
function lily(args: readonly string[], stdin = ""): Promise<Ended> {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    LILY_HOME: join(home, ".lily"),
    LANGSMITH_TRACING: "false",
  };
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: home, env });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  child.stdin.on("error", () => undefined).end(stdin);
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, ...output }));
  });
}

/** The same in this process, which takes a fraction of the time: how the program ends is for the tests of processes. */
const here = (args: readonly string[], stdin = ""): Promise<Ended> =>
  runLine(join(home, ".lily"), args, stdin);

/** Every file of a folder by its path. */
function filesIn(folder: string): Map<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = found.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [path, readFileSync(path, "base64")]));
}

const replyIn = (ended: Ended) => turnReplySchema.parse(JSON.parse(ended.stdout));

describe("lily without a terminal", { timeout: TIMEOUT_MS }, () => {
  it("answers one line after the other, and another process goes on", async () => {
    const first = await lily([], "my flight is LX 1234\n\n  \nwhat is my flight?\n");
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toContain("LX 1234");
    // oxlint-disable-next-line no-control-regex
    expect(first.stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F]/u);

    const second = replyIn(await here(["ask", "--json", "--delivery-id", "d1", "what is my flight?"]));
    expect(second).toMatchObject({ outcome: "answered", turn: 3, repeated: false });
    expect(second.envelope.message).toContain("LX 1234");

    const again = replyIn(await here(["--json", "ask", "-", "--delivery-id=d1"], "what is my flight?\n"));
    expect(again).toEqual({ ...second, repeated: true });

    const listed = await here(["sessions", "--json"]);
    const { data } = z
      .object({ data: z.object({ keys: z.array(z.unknown()) }) })
      .parse(JSON.parse(listed.stdout));
    expect(data.keys).toMatchObject([
      { sessionKey: "cli:main", sessions: [{ ordinal: 1, turns: 3, latest: true }] },
    ]);
    expect(await here(["verify"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 session with 3 turns"),
    });
  });

  it("goes on after a line that failed, and its exit code tells of it", async () => {
    const ended = await here(["--key", "cli:other"], "/nonsense\nhello\n");
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("there is no command /nonsense");
    expect(ended.stdout.trim()).not.toBe("");
  });

  it("refuses a blank message with its exit code, as JSON when asked to", async () => {
    const ended = await here(["ask", "--json"], "  \n");
    expect(ended.code).toBe(2);
    expect(replyIn(ended)).toMatchObject({
      outcome: "refused",
      envelope: { ok: false, code: "message_blank" },
    });
  });

  it("says what is wrong with the configuration and what to do", async () => {
    mkdirSync(join(home, ".lily"));
    writeFileSync(join(home, ".lily", "config.json"), "{ nonsense");
    const ended = await here(["ask", "hello"]);
    expect(ended).toMatchObject({ code: 78, stdout: "" });
    expect(ended.stderr).toContain("config.json");
    expect(ended.stderr).toContain("Correct the file");
  });

  // Memory lies in the file of the transcripts: without it there is no conversation that could go on with memory off.
  it("ST-11 does not begin on a store of a newer program: it says so once, and every file stays as it is", async () => {
    await here(["ask", "hello"]);
    const folder = join(home, ".lily");
    const store = new Database(join(folder, "memory", "store.sqlite"));
    store.pragma("user_version = 4711");
    store.close();
    const before = filesIn(folder);
    const ended = await here(["ask", "hello again"]);
    expect(ended).toMatchObject({ code: 78, stdout: "" });
    expect(ended.stderr.match(/newer program/gu)).toHaveLength(1);
    expect(filesIn(folder)).toEqual(before);
  });

  it("refuses what it does not know on the command line", async () => {
    const [option, subcommand, deliveryId, version] = await Promise.all([
      here(["--nonsense"]),
      here(["nonsense"]),
      here(["--delivery-id", "d1"], "hello\n"),
      here(["--version"]),
    ]);
    expect(option).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--nonsense") });
    expect(subcommand).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("nonsense") });
    expect(deliveryId).toMatchObject({ code: 2, stdout: "" });
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/u) });
  });
});
