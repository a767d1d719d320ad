import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startFakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import type { Approval } from "#src/tools/approval.ts";
import { approvalPanel, decisionIn } from "./approval.ts";
import { screenOf } from "./screen.ts";
import { runLine } from "./testing/run-cli.ts";

const approval: Approval = {
  id: "a",
  tool: "write_file",
  args: { path: "notes/a.md", text: "one\ntwo\u001B[2J" },
  description: "Writes a file",
  server: "files",
  changes: true,
};

describe("a question at a terminal", () => {
  it("shows the tool, its arguments and what they mean, and nothing that moves the cursor", () => {
    const screen = screenOf({ isTTY: true, columns: 80, rows: 24 }, { NO_COLOR: "1" });
    const shown = approvalPanel(approval, screen);
    for (const part of [
      "May write_file run?",
      "Writes a file. It belongs to the MCP server files. It may change something.",
      '"path": "notes/a.md"',
      "yes · always (in this session)",
    ])
      expect(shown).toContain(part);
    expect(shown).toContain('│   "path"');
    expect(shown).not.toContain("\u001B");
  });

  it("cuts arguments that are long", () => {
    const args = { text: "x".repeat(5_000) };
    const shown = approvalPanel({ ...approval, args }, screenOf({ isTTY: true, columns: 80 }, {}));
    expect(shown).toContain("more characters)");
    expect(shown.length).toBeLessThan(4_000);
  });

  it.each([
    ["yes", { type: "approve" }],
    [" Y ", { type: "approve" }],
    ["always", { type: "approve", always: true }],
    ["no", { type: "reject" }],
    ["no, use notes/b.md", { type: "reject", message: "use notes/b.md" }],
    ["now do something else", undefined],
    ["yes but first tell me why", undefined],
    ["/status", undefined],
  ])("reads %j", (line, decision) => {
    expect(decisionIn(line)).toEqual(decision);
  });
});

describe("without a terminal", () => {
  it("what needs a yes does not run, and the reply says so", async () => {
    const home = mkdtempSync(join(tmpdir(), "lily-approval-"));
    const policy = { session_note: "ask" };
    writeFileSync(join(home, "config.json"), JSON.stringify({ tools: { policy } }));
    const models = await startFakeOpenAIServer();
    try {
      const call = { id: "c", name: "session_note", arguments: '{"kind":"task","text":"water the plants"}' };
      models.enqueue({ kind: "toolCalls", calls: [call] });
      const env = { OPENAI_BASE_URL: models.baseURL };
      const ended = await runLine(home, ["ask", "--json", "note it"], "", env);
      const reply = turnReplySchema.parse(JSON.parse(ended.stdout));
      expect(reply).toMatchObject({ outcome: "answered", turn: 1, envelope: { message: "ok" } });
      expect(reply.notice).toContain("session_note: not run, as nobody can be asked here");
      expect(JSON.stringify(models.requests[1]?.body)).toContain("did not approve session_note");
    } finally {
      await models.close();
    }
  });
});
