/** A real MCP server for tests, with tools that behave and tools that do not. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

/** A picture of one dot. */
export const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });

/** Makes it. `variant` changes what it tells of `greet`. */
export function createTestMcpServer({ variant = "one" }: { readonly variant?: string } = {}): McpServer {
  const server = new McpServer({ name: "test", version: "1" });
  const reads = { annotations: { readOnlyHint: true } };
  server.registerTool(
    "greet",
    { description: `Greets (${variant}).`, inputSchema: { name: z.string() }, ...reads },
    ({ name }) => text(`hello ${name}, ${process.env["GREETING"] ?? "no greeting"}, ${process.cwd()}`),
  );
  server.registerTool("write", { description: "Writes.", inputSchema: {} }, () => text("written"));
  server.registerTool("fail", { description: "Fails.", inputSchema: {}, ...reads }, () => ({
    ...text("the disk is full"),
    isError: true,
  }));
  server.registerTool("picture", { description: "Draws.", inputSchema: {}, ...reads }, () => ({
    content: [
      { type: "text", text: "a dot:" },
      { type: "image", data: DOT, mimeType: "image/png" },
      { type: "image", data: DOT, mimeType: "what?" },
      { type: "resource", resource: { uri: "file:///note.txt", mimeType: "text/plain", text: "a note" } },
      { type: "resource_link", uri: "file:///etc/hosts", name: "hosts" },
    ],
  }));
  server.registerTool("big", { description: "Says much.", inputSchema: {}, ...reads }, () =>
    text(`${"0123456789".repeat(500_000)}the end`),
  );
  server.registerTool("huge", { description: "Says too much.", inputSchema: {}, ...reads }, () =>
    text("0123456789".repeat(3_300_000)),
  );
  server.registerTool("hang", { description: "Never answers.", inputSchema: {}, ...reads }, () => {
    return new Promise<never>(() => undefined);
  });
  server.registerTool("crash", { description: "Ends.", inputSchema: {} }, () => {
    process.stderr.write("out of tea\n");
    process.exit(3);
  });
  server.registerTool("grow", { description: "Adds a tool.", inputSchema: {} }, () => {
    server.registerTool("grown", { description: "Is new.", inputSchema: {} }, () => text("grown"));
    return text("more tools now");
  });
  return server;
}
