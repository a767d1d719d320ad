/** `lily serve`: the HTTP routes by session key, until a signal ends them. */
import { openServer, type LilyServer } from "#src/server/serve.ts";
import { PREFIX } from "#src/server/routes/route.ts";
import type { CliContext, CliOptions } from "./context.ts";
import { onTermination } from "./signals.ts";
import { reportError } from "./with-engine.ts";

/** Where to listen. */
export interface ServeOptions {
  readonly host: string;
  readonly port: number;
}

/**
 * Serves until the first signal, then lets running turns end. A second signal ends the process at once. Returns the exit
 * code.
 */
export async function serve(
  context: CliContext,
  options: CliOptions,
  { host, port }: ServeOptions,
  onStop: typeof onTermination = onTermination,
): Promise<number> {
  const stop = new AbortController();
  const forget = onStop(() => stop.abort());
  try {
    const report = (detail: string) => void context.stderr.write(`lily: ${detail}\n`);
    const server = await openServer(context.env, context.cwd, { host, port, report });
    context.stdout.write(`${startText(server, options)}\n`);
    await aborted(stop.signal);
    if (!options.json) context.stderr.write("Ending: waiting for answers that are being written.\n");
    await server.close();
    return 0;
  } catch (error) {
    return await reportError(error, context, options);
  } finally {
    forget();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function startText({ url, isOpen, owner }: LilyServer, { json }: CliOptions): string {
  const address = `${url}${PREFIX}`;
  if (json) return JSON.stringify({ url: address, isOpen, owner: isOpen ? owner : null });
  const who = isOpen
    ? `Without login, for programs of this machine only, as ${JSON.stringify(owner)}. lily keys new <owner> makes keys.`
    : "Each request needs a key or token.";
  return `Lily answers at ${address}\n${who}\nGET ${address}/openapi.json lists the routes. Ctrl+C ends the server.`;
}
