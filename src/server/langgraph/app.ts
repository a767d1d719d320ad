/** The HTTP routes in the process of a LangGraph server; `http.app` in `langgraph.json` names this file. */
import { serverConfig, serverDeps } from "#graphs/server/server-deps.ts";
import { openAuthenticator } from "../auth/authenticator.ts";
import { peerAddress } from "../auth/peer-address.ts";
import { createHttpApp } from "../http-app.ts";
import { openInProcess } from "./in-process.ts";

const { config, home } = serverConfig;
const authenticator = openAuthenticator(process.env, home, { owner: config.owner, peerAddress });

/** Mounted before the server's own routes. */
export const app = createHttpApp({
  open: openInProcess({ deps: serverDeps, startedAtMs: performance.timeOrigin }),
  authenticate: (request) => authenticator.authenticate(request),
  report: (text) => void process.stderr.write(`lily: ${text}\n`),
});
