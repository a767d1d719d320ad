/** The session graph as LangGraph Studio and the LangGraph server load it; `langgraph.json` names this file. */
import { serverDeps } from "./server/server-deps.ts";
import { showContextSchema } from "./server/show-context-schema.ts";
import { compileSessionGraph } from "./session/graph.ts";

/** Steps of one run; LangGraph's own 25 would end a turn early where `limits.modelCalls` is more than ten. */
const RECURSION_LIMIT = 100;

/** Compiled without storage: the server sets its own checkpointer and store on every request. */
export const graph = showContextSchema(compileSessionGraph(serverDeps)).withConfig({
  recursionLimit: RECURSION_LIMIT,
});
