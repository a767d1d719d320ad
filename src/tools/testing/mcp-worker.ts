/** The test server as a program of its own. Its argument: a variant, `hang` (begins and never answers), `broken`, or `endless` (tells its tools for ever). */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createTestMcpServer } from "./mcp-server.ts";

const [, , variant = "one"] = process.argv;

switch (variant) {
  case "hang":
    process.stdin.resume();
    process.on("SIGTERM", () => undefined);
    setInterval(() => undefined, 60_000);
    break;
  case "broken":
    process.stderr.write("no license found\n");
    process.exit(1);
    break;
  default: {
    const server = createTestMcpServer({ variant });
    if (variant === "endless")
      server.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [], nextCursor: "again" }));
    await server.connect(new StdioServerTransport());
  }
}
