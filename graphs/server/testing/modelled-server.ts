/** A `langgraphjs dev` server whose model is a fake OpenAI server, for tests that say what the model answers. */
import { startFakeOpenAIServer, type FakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";
import { startDevServer, type DevServer } from "./dev-server.ts";

/** Both servers. */
export interface ModelledServer {
  readonly models: FakeOpenAIServer;
  readonly server: DevServer;
  /** Ends both. */
  stop(): Promise<void>;
}

/** Starts both, the server with `extra` in its environment. */
export async function startModelledServer(
  extra: Readonly<Record<string, string>> = {},
): Promise<ModelledServer> {
  const models = await startFakeOpenAIServer();
  const env = { LILY_MODEL: "openai:fake", OPENAI_API_KEY: "test", OPENAI_BASE_URL: models.baseURL };
  const server = await startDevServer({ ...env, ...extra });
  return {
    models,
    server,
    async stop() {
      await server.stop();
      await models.close();
    },
  };
}
