/** The import arrows of ARCHITECTURE.md: who may import whom. */
const TESTS = "(\\.test\\.ts$|/testing/)";
const PURE = "^src/(kernel|sessions|explain|commands)/";

/** A rule that files in `from` import nothing of ours outside `allowed`. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from, pathNot: TESTS },
  to: { path: "^(src|graphs|memory|evals)/", pathNot: allowed },
});

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    only("kernel", "^src/kernel/", "^src/kernel/", "kernel imports nothing of ours"),
    only("sessions", "^src/sessions/", "^src/(sessions|kernel)/", "sessions → kernel"),
    only("memory", "^memory/", "^(memory/|src/kernel/)", "memory → kernel"),
    only(
      "explain",
      "^src/explain/",
      "^(src/(explain|kernel|sessions|context)/|memory/)",
      "explain → pure folders",
    ),
    only(
      "context",
      "^src/context/",
      "^(src/(context|kernel|sessions|explain)/|memory/)",
      "context → pure folders",
    ),
    only(
      "commands",
      "^src/commands/",
      "^(src/(commands|kernel|sessions|context|explain|agents|preparation|tools)/|memory/)",
      "commands → pure folders, agents, tools, what prepares a turn, and memory's values",
    ),
    only(
      "preparation",
      "^src/preparation/",
      "^(src/(preparation|kernel|sessions|context|turns/solvers)/|memory/)",
      "preparation → pure folders, the solver without a model, and memory's values",
    ),
    only(
      "agents",
      "^src/agents/",
      "^src/(agents|kernel|sessions|context)/",
      "agents → pure folders; where files lie comes in",
    ),
    only("topics", "^src/topics/", "^src/(topics|kernel|sessions|models)/", "topics → sessions and models"),
    only(
      "tools",
      "^src/tools/",
      "^(src/(tools|kernel|sessions|agents)/|memory/evidence/)",
      "tools → sessions, how agents freeze, and document readers",
    ),
    only("models", "^src/models/", "^src/(models|kernel)/", "models → kernel"),
    only(
      "storage",
      "^src/storage/",
      "^(src/(storage|kernel|sessions)/|memory/stores/)",
      "storage implements the ports of sessions",
    ),
    only(
      "upkeep",
      "^src/upkeep/",
      "^(src/(upkeep|kernel|sessions|storage)/|memory/(stores/|policy/(find-secrets|secret-scanner)\\.ts$|record\\.ts$))",
      "upkeep → what is stored, and how, and what a secret in it is; where it lies comes in",
    ),
    only(
      "erasure",
      "^src/erasure/",
      "^(src/(erasure|kernel|sessions|storage|commands/command-erasing\\.ts$)|memory/)",
      "erasure → what is kept, and where; the words in which commands are told of it",
    ),
    only(
      "turns",
      "^src/turns/",
      "^(src/(turns|kernel|sessions|context|explain|commands|models|tools|storage/backend\\.ts$)|memory/)",
      "turns → the folders that a turn is made of; storage only as a port",
    ),
    only("app", "^src/app/", "^(src/(?!cli|server)|memory/)", "app → all of src but cli and server"),
    only("graphs", "^graphs/", "^(graphs/|src/(?!cli|server)|memory/)", "graphs → app and all below"),
    {
      name: "nothing-imports-the-edges",
      comment: "cli, server and evals are imported by nobody",
      severity: "error",
      from: { pathNot: "^(src/(cli|server)|evals)/" },
      to: { path: "^(src/(cli|server)|evals)/" },
    },
    {
      name: "langchain-stays-out",
      comment: "@langchain/* stays out of the pure folders and of the rules of memory and context",
      severity: "error",
      from: {
        path: `${PURE}|^src/(context|agents|preparation)/|^memory/(?!stores/|facts/|embedding/|evidence/)`,
        pathNot: TESTS,
      },
      to: { path: "node_modules/@langchain/" },
    },
    {
      name: "openai-in-one-place",
      comment: "the provider is loaded lazily, by one file for chat and one for vectors",
      severity: "error",
      from: {
        path: "^(src|graphs|memory)/",
        pathNot: "^(src/models/openai-completions-model|memory/embedding/embedders)\\.ts$",
      },
      to: { path: "node_modules/@langchain/openai/" },
    },
    {
      name: "no-orphans",
      severity: "error",
      from: { orphan: true, pathNot: `${TESTS}|\\.mjs$|\\.d\\.ts$|^graphs/[^/]+\\.ts$` },
      to: {},
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js", ".mjs"],
    },
  },
};
