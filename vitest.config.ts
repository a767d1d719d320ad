import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "graphs/**/*.test.ts", "memory/**/*.test.ts", "evals/**/*.test.ts"],
    // Files share modules: nothing here keeps state in one, and loading LangGraph anew for each file costs more than the tests.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: {
      LANGSMITH_TRACING: "false",
      LANGCHAIN_TRACING_V2: "false",
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
    },
  },
});
