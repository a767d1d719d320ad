/** The login of Lily on a LangGraph server; `auth.path` in `langgraph.json` names this file. */
import { Auth } from "@langchain/langgraph-sdk/auth";
import dotenv from "dotenv";
import { loadConfig } from "#src/app/config.ts";
import { decideAccess } from "./auth/access.ts";
import { openAuthenticator } from "./auth/authenticator.ts";
import { answerFor } from "./auth/http-refusal.ts";
import { peerAddress } from "./auth/peer-address.ts";
import { createServerLogin } from "./auth/server-login.ts";
import { mayReadInProcess } from "./auth/thread-guard.ts";

dotenv.config({ quiet: true });

const { home, config } = loadConfig(process.env, process.cwd());
const authenticator = openAuthenticator(process.env, home, { owner: config.owner, peerAddress });
const login = createServerLogin({ authenticator, mayRead: mayReadInProcess });
const report = (text: string) => void process.stderr.write(`lily: ${text}\n`);

/** Every thread and run belongs to the identity that made it. */
export const auth = new Auth()
  .authenticate(async (request) => {
    try {
      return await login(request);
    } catch (error) {
      throw answerFor(error, report);
    }
  })
  .on("*", (question) => {
    try {
      return decideAccess(question);
    } catch (error) {
      throw answerFor(error, report);
    }
  });
