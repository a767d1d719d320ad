/** How tests reach the test server: as a program, and over HTTP. */
import { createServer, type Server } from "node:http";
import { fileURLToPath } from "node:url";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { McpServerSettings } from "../tool-settings.ts";
import { createTestMcpServer } from "./mcp-server.ts";

/** Settings of the test server as a program. */
export function stdioServer(variant = "one", env: Record<string, string> = {}): McpServerSettings {
  const worker = fileURLToPath(new URL("mcp-worker.ts", import.meta.url));
  return {
    command: process.execPath,
    args: ["--import", import.meta.resolve("tsx"), worker, variant],
    env,
  };
}

/** The test server over HTTP, each request a server of its own. */
export async function startHttpMcp(
  options: { readonly port?: number; readonly variant?: string; readonly isSilent?: boolean } = {},
): Promise<{
  readonly url: string;
  readonly headers: string[];
  readonly port: number;
  close(): Promise<void>;
}> {
  const headers: string[] = [];
  const server: Server = createServer((request, response) => {
    if (request.headers.authorization !== undefined) headers.push(request.headers.authorization);
    if (options.isSilent === true) return;
    const transport = new StreamableHTTPServerTransport({});
    const mcp = createTestMcpServer(options);
    response.on("close", () => void mcp.close());
    void mcp
      .connect(transport as Parameters<typeof mcp.connect>[0])
      .then(() => transport.handleRequest(request, response));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    headers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
