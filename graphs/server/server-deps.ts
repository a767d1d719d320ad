/** The dependencies of the session graph on a LangGraph server; the graph and the HTTP routes of one process share them. */
import dotenv from "dotenv";
import { loadConfig } from "#src/app/config.ts";
import { createLangGraphThreads } from "#src/app/langgraph-threads.ts";
import { createSessionDeps } from "#src/app/open-app.ts";
import { createWaitingReceipts } from "#src/erasure/waiting-receipts.ts";

// Here and not as "env" in langgraph.json: a fresh clone has no .env, about which the server would warn at each start.
dotenv.config({ quiet: true });

/** The configuration of the server's folder. */
export const serverConfig = loadConfig(process.env, process.cwd());

/** One set a process: what the routes stop is what the graph runs. */
export const serverDeps = {
  ...createSessionDeps(serverConfig, process.env, { threads: createLangGraphThreads() }),
  receipts: createWaitingReceipts(),
};
