/** The session graph as LangGraph Studio and the LangGraph server load it; `langgraph.json` names this file. */
import dotenv from "dotenv";
import { loadConfig } from "#src/app/config.ts";
import { loadPlugins, pluginProblemText } from "#src/app/load-plugins.ts";
import { createLangGraphThreads } from "#src/app/langgraph-threads.ts";
import { createSessionDeps, zoneProblem } from "#src/app/open-app.ts";
import { compileSessionGraph } from "./session/graph.ts";

// Here and not as "env" in langgraph.json: a fresh clone has no .env, about which the server would warn at each start.
dotenv.config({ quiet: true });

/** Steps of one run; LangGraph's own 25 would end a turn early where `limits.modelCalls` is more than ten. */
const RECURSION_LIMIT = 100;

const loaded = loadConfig(process.env, process.cwd());
const plugins = await loadPlugins(loaded);
const deps = createSessionDeps(loaded, process.env, { threads: createLangGraphThreads(), plugins });

const problem = zoneProblem(loaded.config, process.env);
for (const told of [...(problem === undefined ? [] : [problem]), ...plugins.problems.map(pluginProblemText)])
  process.stderr.write(`${told}\n`);

/** Compiled without storage: the server sets its own checkpointer and store on every request. */
export const graph = compileSessionGraph(deps).withConfig({
  recursionLimit: RECURSION_LIMIT,
});
