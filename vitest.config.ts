import { defineConfig } from "vitest/config";

const FOLDERS = ["src", "graphs", "memory", "evals"];
const SLOW = "slow.test.ts";

/** `npm run test:slow` runs what takes as long as many tests together: servers that are started again, types of the whole program. */
const isSlow = process.env["LILY_SLOW"] === "1";

export default defineConfig({
  test: {
    include: FOLDERS.map((folder) => (isSlow ? `${folder}/**/*.${SLOW}` : `${folder}/**/*.test.ts`)),
    exclude: isSlow ? [] : [`**/*.${SLOW}`],
    globalSetup: "evals/harness/tests-in-memory.ts",
    // Files share modules: nothing here keeps state in one, and loading LangGraph anew for each file costs more than the tests.
    isolate: false,
    // Two more than the two cores of a small machine: tests that wait for a server leave theirs to others.
    maxWorkers: 4,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    env: {
      LANGSMITH_TRACING: "false",
      LANGCHAIN_TRACING_V2: "false",
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
    },
  },
});
