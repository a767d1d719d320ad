import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { runLine } from "./testing/run-cli.ts";

const newHome = (): string => mkdtempSync(join(tmpdir(), "lily-pipe-"));
const utf16 = (text: string) => Buffer.from(text, "utf16le");

async function repliesTo(bytes: Buffer) {
  const ran = await runLine(newHome(), ["--json"], bytes);
  const replies = ran.stdout.trim().split("\n");
  return { ...ran, replies: replies.map((line) => turnReplySchema.parse(JSON.parse(line))) };
}

describe("lines from a pipe", () => {
  it.each([
    ["Latin-1", Buffer.concat([Buffer.from("caf\u00e9\n", "latin1"), Buffer.from("/status\n")])],
    ["a cut character", Buffer.concat([Buffer.from("猫").subarray(0, 2), Buffer.from("\n/status")])],
    ["a null byte", Buffer.from("a\u0000b\r\n/status\r\n")],
  ])("refuse one that is no UTF-8 and answer the others: %s (F-4)", async (_what, bytes) => {
    const { code, replies } = await repliesTo(bytes);
    expect(code).toBe(2);
    expect(replies.map(({ envelope }) => envelope.code)).toEqual(["message_invalid", "status"]);
    expect(replies[0]?.turn).toBeNull();
  });

  it.each([
    ["little", utf16("\uFEFF/remember Zoë likes Ċ and 猫\r\n/memory show\n")],
    ["big", Buffer.from(utf16("\uFEFF/remember Zoë likes Ċ and 猫\n/memory show")).swap16()],
  ])("are decoded by the mark of UTF-16, %s end first (F-4)", async (_what, bytes) => {
    const { code, stdout, replies } = await repliesTo(bytes);
    expect(code).toBe(0);
    expect(replies).toHaveLength(2);
    expect(stdout).toContain("Zoë likes Ċ and 猫");
    expect(stdout).not.toContain("\uFFFD");
  });

  it("a message that lily ask reads is decoded by the same rules (F-4)", async () => {
    const asked = await runLine(newHome(), ["ask", "--json"], utf16("\uFEFF/status\r\n"));
    expect(asked.code).toBe(0);
    const refused = await runLine(newHome(), ["ask", "--json"], Buffer.from("caf\u00e9", "latin1"));
    expect(refused).toMatchObject({ code: 2, stderr: "" });
    expect(refused.stdout).toContain('"code":"message_invalid"');
  });

  it.each(["s1 ", "\u00a0s1", "s1\u200b"])(
    "a new key %j that would look like another is refused (F-9)",
    async (key) => {
      for (const text of ["/status", "hello"]) {
        const ran = await runLine(newHome(), ["ask", "--json", "--key", key, text]);
        expect(ran.code).toBe(2);
        expect(ran.stdout).toContain('"code":"session_key_invalid"');
        expect(ran.stdout).toContain('Use \\"s1\\"');
      }
    },
  );

  it.each([":/etc/localtime", "", "GMT+3", "CET-1CEST"])(
    "TZ=%j is told once, and doctor names it (F-2)",
    async (TZ) => {
      const home = newHome();
      const asked = await runLine(home, ["ask", "hello"], "", { TZ });
      expect(asked).toMatchObject({ code: 0 });
      expect(asked.stderr.match(/TZ is/gu)).toHaveLength(1);
      expect(asked.stderr).toContain("in UTC");
      expect((await runLine(home, ["doctor"], "", { TZ })).stdout).toMatch(/time zone +warn +TZ is/u);
    },
  );

  it.each(["Europe/Paris", ":Asia/Tokyo", "UTC"])("TZ=%j is nothing to tell of (F-2)", async (TZ) => {
    expect((await runLine(newHome(), ["ask", "/status"], "", { TZ })).stderr).toBe("");
  });
});
