import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { CliContext } from "./context.ts";
import { serve } from "./serve.ts";
import { envelopeIn, runLine } from "./testing/run-cli.ts";

const PROGRAM = fileURLToPath(new URL("./lily.mjs", import.meta.url));

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lily-serve-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Runs `lily serve` until `stop` is called; `started` is what it has printed by then. */
function serving(json: boolean, where: { host: string; port: number }) {
  const output = { out: "", error: "" };
  let print = (): void => undefined;
  const started = new Promise<void>((resolve) => (print = resolve));
  const stream = (name: "out" | "error") => ({
    write: (text: string) => {
      output[name] += text;
      if (name === "out") print();
      return true;
    },
  });
  const context = {
    env: { LILY_HOME: home },
    cwd: home,
    stdin: process.stdin,
    stdout: stream("out"),
    stderr: stream("error"),
    json,
  } as unknown as CliContext;
  let stop = (_exitCode: number): void => undefined;
  let hasForgotten = false;
  const exitCode = serve(context, where, (given) => {
    stop = given;
    return () => (hasForgotten = true);
  });
  return { output, started, exitCode, stop: () => stop(143), hasForgotten: () => hasForgotten };
}

describe("lily serve", () => {
  it("says where it answers and for whom, and ends with 0 at the first signal", async () => {
    const running = serving(false, { host: "127.0.0.1", port: 0 });
    await running.started;
    const [url = ""] = /http:\S+\/lily\/v1/u.exec(running.output.out) ?? [];
    expect(running.output.out).toContain("for programs of this machine only");
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    running.stop();
    expect(await running.exitCode).toBe(0);
    expect(running.hasForgotten()).toBe(true);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  it("says so to programs as one line of JSON", async () => {
    const running = serving(true, { host: "127.0.0.1", port: 0 });
    await running.started;
    running.stop();
    expect(await running.exitCode).toBe(0);
    const printed = z.strictObject({ url: z.string(), isOpen: z.boolean(), owner: z.string().nullable() });
    expect(printed.parse(JSON.parse(running.output.out))).toMatchObject({ isOpen: true, owner: "local" });
    expect(running.output.error).toBe("");
  });

  it("does not begin where it must not or cannot listen, with the exit code of configuration", async () => {
    const open = await runLine(home, ["serve", "--host", "0.0.0.0", "--port", "0"]);
    expect(open).toMatchObject({ code: 78, stderr: expect.stringContaining("lily keys new") as unknown });

    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    if (typeof address !== "object" || address === null) throw new Error("no address");
    const busy = await runLine(home, ["serve", "--json", "--port", String(address.port)]);
    expect(busy.code).toBe(78);
    expect(envelopeIn(busy)).toMatchObject({ ok: false, code: "config_invalid" });
    await new Promise((resolve) => taken.close(resolve));
  });

  it("ends a process of its own with 0 when it is told to, and what was said is there for the next one", async () => {
    const env = { PATH: process.env["PATH"], HOME: home, LILY_HOME: home, LANGSMITH_TRACING: "false" };
    const child = spawn(process.execPath, [PROGRAM, "--json", "serve", "--port", "0"], { cwd: home, env });
    const ended = once(child, "exit");
    const [printed] = await once(child.stdout.setEncoding("utf8"), "data");
    const { url } = z.object({ url: z.string() }).parse(JSON.parse(String(printed)));
    const sent = await fetch(`${url}/keys/cli%3Amain/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content: "hello" }),
    });
    expect(sent.status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    const again = serving(true, { host: "127.0.0.1", port: 0 });
    await again.started;
    const next = z.object({ url: z.string() }).parse(JSON.parse(again.output.out));
    expect(await (await fetch(`${next.url}/keys`)).json()).toMatchObject({
      keys: [{ sessionKey: "cli:main", turns: 1 }],
    });
    again.stop();
    await again.exitCode;
  });
});
