import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stdioServer } from "#src/tools/testing/start-mcp.ts";
import { runLine } from "./testing/run-cli.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lily-tools-cli-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function lily(args: readonly string[], config: object) {
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  return runLine(home, args);
}

describe("lily tools", () => {
  it("lists the tools of every source with its rule, and what does not work with its reason, and leaves no process behind", async () => {
    const { code, stdout: said } = await lily(["tools"], {
      mcpServers: { my: stdioServer(), broken: stdioServer("broken") },
      tools: { fetch: true, policy: { "my/*": "deny" } },
    });
    expect(code).toBe(0);
    expect(said).toMatch(/my__greet +my +ready +does not run/u);
    expect(said).toMatch(/fetch_url +built in +ready +runs/u);
    expect(said).toMatch(/broken +failed: .*no license found/u);
    expect(said.match(/config\.json add some/gu)).toHaveLength(1);
  });

  it("gives programs the same as JSON", async () => {
    const { stdout: said } = await lily(["tools", "--json"], { tools: { files: { folders: ["."] } } });
    const { data, next } = JSON.parse(said) as {
      data: { tools: { name: string; from: string }[] };
      next: string;
    };
    expect(data.tools.find(({ name }) => name === "read_file")).toMatchObject({
      from: "built in",
      rule: "allow",
    });
    expect(next).toContain("config.json");
  });

  it("names what is wrong with the configuration of a server", async () => {
    const { code, stderr: told } = await lily(["tools"], { mcpServers: { my: { cmd: "x" } } });
    expect(code).toBe(78);
    expect(told).toContain('needs "command" for a program, or "url" for a server on the web');
    expect(told).toContain("mcpServers.my");
  });
});
