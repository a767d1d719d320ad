import { expect, it, vi } from "vitest";
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import type { CliContext } from "./context.ts";
import { withEngine } from "./with-engine.ts";

vi.mock(import("./engine.ts"), () => {
  const full = new LilyError("storage_full", "the disk is full");
  const engine = { close: () => Promise.reject(full) };
  return { openEngine: () => Promise.resolve(engine) } as never;
});

it("a close that fails adds no second line of JSON, and gives its exit code (R-9)", async () => {
  const written = { out: "", error: "" };
  const context = {
    env: {},
    cwd: "/",
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { write: (text: string) => (written.error += text) },
    json: true,
  } as unknown as CliContext;
  const exitCode = await withEngine(context, async () => {
    context.stdout.write('{"reply":true}\n');
    return 0;
  });
  expect(exitCode).toBe(73);
  expect(z.object({ reply: z.boolean() }).parse(JSON.parse(written.out))).toEqual({ reply: true });
  expect(written.error).toContain("the disk is full");
});
