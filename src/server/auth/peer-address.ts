/** The address from which the request comes that a LangGraph server is answering. */
import { tryGetContext } from "hono/context-storage";
import { z } from "zod";

/** What the server's HTTP library gives along with each request that comes over a connection. */
const connectionSchema = z.object({
  incoming: z.object({ socket: z.object({ remoteAddress: z.string() }) }),
});

/** `undefined` for a request within the process, and where the server does not keep what it is answering. */
export function peerAddress(): string | undefined {
  const connection = connectionSchema.safeParse(tryGetContext()?.env);
  return connection.success ? connection.data.incoming.socket.remoteAddress : undefined;
}
