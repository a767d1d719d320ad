/** `lily serve`: the HTTP routes by session key, until a signal ends them. */
import { once } from "node:events";
import { DEFAULT_HOST, DEFAULT_PORT, openServer, type LilyServer } from "#src/server/serve.ts";
import { PREFIX } from "#src/server/routes/route.ts";
import type { CliContext } from "./context.ts";
import { onTermination } from "./signals.ts";

/**
 * Serves until the first signal, then lets running turns end. A second signal ends the process at once. Returns the exit
 * code.
 */
export async function serve(
  context: CliContext,
  { host = DEFAULT_HOST, port = DEFAULT_PORT }: { readonly host?: string; readonly port?: number },
  onStop: typeof onTermination = onTermination,
): Promise<number> {
  const { env, cwd, stdout, stderr, json } = context;
  const stop = new AbortController();
  const stopped = once(stop.signal, "abort");
  const forget = onStop(() => stop.abort());
  try {
    const report = (detail: string) => void stderr.write(`lily: ${detail}\n`);
    const server = await openServer(env, cwd, { host, port, report });
    stdout.write(`${startText(server, json)}\n`);
    await stopped;
    if (!json) stderr.write("Ending: waiting for answers that are being written.\n");
    await server.close();
    return 0;
  } finally {
    forget();
  }
}

function startText({ url, isOpen, owner }: LilyServer, json: boolean): string {
  const address = `${url}${PREFIX}`;
  if (json) return JSON.stringify({ url: address, isOpen, owner: isOpen ? owner : null });
  const who = isOpen
    ? `Without login, for programs of this machine only, as ${JSON.stringify(owner)}. lily keys new <owner> makes keys.`
    : "Each request needs a key or token.";
  return `Lily answers at ${address}\n${who}\nGET ${address}/openapi.json lists the routes. Ctrl+C ends the server.`;
}
