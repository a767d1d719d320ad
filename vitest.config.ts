import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "graphs/**/*.test.ts", "memory/**/*.test.ts", "evals/**/*.test.ts"],
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
