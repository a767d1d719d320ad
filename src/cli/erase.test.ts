import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openLocalSessions } from "#graphs/session/local.ts";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { openApp } from "#src/app/open-app.ts";
import { hunt } from "#src/erasure/testing/hunt.ts";
import { chat } from "./chat.ts";
import { envelopeIn, runLine, type Ran } from "./testing/run-cli.ts";

const FACT = "My neighbour keeps zebrafish in Ostend";
const WANTED = { text: FACT, words: ["zebrafish", "ostend"] };

/** Sends messages as their owners do over HTTP. */
async function say(home: string, said: readonly (readonly [owner: string, text: string])[]): Promise<void> {
  const { deps, storage, config } = await openApp({ LILY_HOME: home }, home);
  const sessions = openLocalSessions(deps, storage, { keepTurns: config.storage.keepTurns });
  for (const [owner, content] of said) await sessions.send({ owner, sessionKey: "cli:main", content });
  await sessions.settled();
  await storage.close();
}

const erase = (home: string, ...args: string[]): Promise<Ran> => runLine(home, ["erase", "--json", ...args]);

describe("lily erase", () => {
  it("erases one person's conversations and memory, what was typed, and nothing of others", async () => {
    const home = temporaryFolder();
    await say(home, [
      ["local", `/remember ${FACT}`],
      ["local", FACT],
      ["local2", "my parrot speaks Latin"],
    ]);
    writeFileSync(join(home, "cli-history"), `${FACT}\nanything\n`);
    expect(hunt(home, WANTED)).not.toEqual([]);
    const ran = await erase(home, "--owner", "local", "--yes");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(envelopeIn(ran)).toMatchObject({
      ok: true,
      code: "erased",
      next: expect.stringContaining("Nothing keeps an import from bringing it back."),
      data: { receipt: { what: "person" } },
    });
    expect(hunt(home, WANTED)).toEqual([]);
    expect(readFileSync(join(home, "cli-history"), "utf8")).toBe("");
    expect(hunt(home, { text: "my parrot speaks Latin", words: ["parrot", "latin"] })).not.toEqual([]);
  });

  it("asks for a yes where nobody can be asked, and changes nothing with --dry-run", async () => {
    const home = temporaryFolder();
    await say(home, [["local", FACT]]);
    const asked = await erase(home, "--owner", "local");
    expect(asked.code).toBe(2);
    expect(envelopeIn(asked)).toMatchObject({ ok: false, code: "confirmation_needed" });
    const looked = await erase(home, "--owner", "local", "--dry-run");
    expect(looked.code).toBe(0);
    expect(envelopeIn(looked).data).toMatchObject({
      counts: expect.arrayContaining([{ place: "transcripts", count: 1 }]),
    });
    expect(hunt(home, WANTED)).not.toEqual([]);
  });

  it("leaves a home in which the doctor finds nothing wrong, as /forget --everywhere does", async () => {
    const home = temporaryFolder();
    await say(home, [
      ["local", "hello"],
      ["local", FACT],
      ["local", "/new"],
      ["local", "good morning"],
      ["local", `/forget ${FACT} --everywhere --yes`],
      ["anna", FACT],
    ]);
    await erase(home, "--owner", "anna", "--yes");
    expect(hunt(home, WANTED)).toEqual([]);
    const ran = await runLine(home, ["doctor", "--json"]);
    const { checks } = z
      .object({ checks: z.array(z.object({ check: z.string(), state: z.string(), found: z.string() })) })
      .parse(envelopeIn(ran).data);
    expect(checks.filter(({ state }) => state !== "ok")).toEqual([]);
  });

  it("erases one conversation with its key, leaves the others, and says what it leaves", async () => {
    const home = temporaryFolder();
    const { deps, storage } = await openApp({ LILY_HOME: home }, home);
    const sessions = openLocalSessions(deps, storage, { keepTurns: 1 });
    for (const [sessionKey, content] of [
      ["telegram:dm:42", FACT],
      ["telegram:dm:42", "/new"],
      ["telegram:dm:42", "hello"],
      ["telegram:dm:421", "my parrot speaks Latin"],
    ] as const)
      await sessions.send({ owner: "local", sessionKey, content });
    await sessions.settled();
    await storage.close();
    const ran = await erase(home, "--key", "telegram:dm:42", "--yes");
    expect(envelopeIn(ran)).toMatchObject({ ok: true, data: { receipt: { what: "key" } } });
    expect(ran.stdout).toContain("lily erase --owner takes it");
    expect(hunt(home, WANTED)).toEqual([]);
    expect(hunt(home, { text: "my parrot speaks Latin", words: ["parrot", "latin"] })).not.toEqual([]);
    const asked = await erase(home, "--yes");
    expect([asked.code, envelopeIn(asked).code]).toEqual([2, "command_usage"]);
  });

  it("tells of keys of the person that stay", async () => {
    const home = temporaryFolder();
    await say(home, [["anna", FACT]]);
    const keys = [{ owner: "anna", hash: `sha256:${"a".repeat(64)}` }];
    writeFileSync(join(home, "api-keys.json"), JSON.stringify(keys), { mode: 0o600 });
    const ran = await erase(home, "--owner", "anna", "--yes");
    expect(ran.stdout).toContain("1 still open an empty account");
    expect(hunt(home, WANTED)).toEqual([]);
  });

  it("makes no folder for a mistyped one", async () => {
    const home = join(temporaryFolder(), "missing");
    expect((await erase(home, "--owner", "local", "--yes")).code).toBe(2);
    expect(existsSync(home)).toBe(false);
  });
});

/** A terminal without a machine behind it. */
function fakeTerminal() {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
  let shown = "";
  const watchers = new Set<() => void>();
  output.on("data", (chunk: Buffer) => {
    shown += stripVTControlCharacters(chunk.toString());
    for (const watch of watchers) watch();
  });
  return {
    // Only what the program uses is there.
    stdin: input as unknown as ReadStream,
    stdout: output as unknown as WriteStream,
    type: (text: string) => void input.write(text),
    /** Resolves when `text`, and then the prompt, is shown behind what was shown before. */
    until(text: string): Promise<void> {
      const from = shown.length;
      return new Promise((resolve) => {
        const watch = (): void => {
          const at = shown.indexOf(text, from);
          if (
            at === -1 ||
            !shown
              .slice(at + text.length)
              .trimEnd()
              .endsWith("›")
          )
            return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
      });
    },
    shown: () => shown,
  };
}

describe("/forget --everywhere in a terminal", () => {
  it.each([
    ["yes", true],
    ["no", false],
  ])("is done after a %s: %s", async (answer, isDone) => {
    const home = temporaryFolder();
    await say(home, [["local", FACT]]);
    appendFileSync(join(home, "cli-history"), `${FACT}\n`);
    const { stdin, stdout, type, until, shown } = fakeTerminal();
    const stderr = Object.assign(new PassThrough(), { isTTY: false }) as unknown as WriteStream;
    const context = { env: { LILY_HOME: home }, cwd: home, stdin, stdout, stderr, json: false };
    const ended = chat(context);
    await typeAt(`/forget ${FACT} --everywhere\r`, "Write yes to erase it");
    await typeAt(`${answer}\r`, isDone ? "The receipt says" : "Nothing was erased.");
    expect(shown()).toContain("transcripts");
    // The line that the arrow key brings back is not one that says it.
    type("\u001B[A\u001B[A\u001B[A\u0003");
    type("\u0004");
    expect(await ended).toBe(0);
    expect(hunt(home, WANTED).length > 0).toBe(!isDone);

    async function typeAt(line: string, reply: string): Promise<void> {
      const told = until(reply);
      type(line);
      await told;
    }
  });
});
