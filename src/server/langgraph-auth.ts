/** The login of Lily on a LangGraph server; `auth.path` in `langgraph.json` names this file. */
import dotenv from "dotenv";
import { Auth } from "@langchain/langgraph-sdk/auth";
import { tryGetContext } from "hono/context-storage";
import { z } from "zod";
import { loadConfig } from "#src/app/config.ts";
import { decideAccess } from "./auth/access.ts";
import { openAuthenticator } from "./auth/authenticator.ts";
import { parseOperator } from "./auth/key-entries.ts";
import { answerFor } from "./auth/refusals.ts";
import { createServerLogin } from "./auth/server-login.ts";
import { mayReadInProcess } from "./auth/server-routes.ts";

dotenv.config({ quiet: true });

const { home, config } = loadConfig(process.env, process.cwd());
const authenticator = openAuthenticator(process.env, home, { owner: config.owner });
const login = createServerLogin({
  authenticator,
  peerAddress,
  mayRead: mayReadInProcess,
  operator: parseOperator(process.env["LILY_OPERATOR_KEY"]),
});
const refuse = (error: unknown): never => {
  throw answerFor(error, (text) => void process.stderr.write(`lily: ${text}\n`));
};

/** Every thread and run belongs to the identity that made it. */
export const auth = new Auth()
  .authenticate((request) => login(request).catch(refuse))
  .on("*", (question) => {
    try {
      return decideAccess(question);
    } catch (error) {
      return refuse(error);
    }
  });

/** The address from which the request comes that the server is answering; its HTTP library gives it along. */
function peerAddress(): string | undefined {
  const connection = z
    .object({ incoming: z.object({ socket: z.object({ remoteAddress: z.string() }) }) })
    .safeParse(tryGetContext()?.env);
  return connection.success ? connection.data.incoming.socket.remoteAddress : undefined;
}
