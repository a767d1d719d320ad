/** Runs something once on an open engine, for subcommands that end by themselves. */
import type { CliContext, CliOptions } from "./context.ts";
import type { Engine } from "./engine.ts";
import { onTermination } from "./signals.ts";
import { stopReason } from "./stop-reason.ts";

/** Longest wait for a stopped answer to be stored, in milliseconds. */
const STOP_LIMIT_MS = 5000;

/** What is done with the engine; returns the exit code. */
export type UseEngine = (engine: Engine, stop: AbortSignal) => Promise<number>;

/**
 * Opens the engine, uses it and closes it. A signal stops the answer that is being written, which keeps what there is
 * of it. What goes wrong is reported; the exit code tells which kind it was.
 */
export async function withEngine(context: CliContext, options: CliOptions, use: UseEngine): Promise<number> {
  const stop = new AbortController();
  let signalled: number | undefined;
  const forget = onTermination((exitCode) => {
    signalled = exitCode;
    stop.abort(stopReason());
    setTimeout(() => process.exit(exitCode), STOP_LIMIT_MS).unref();
  });
  try {
    const exitCode = await openAndUse(context, options, { use, stop: stop.signal });
    return signalled ?? exitCode;
  } finally {
    forget();
  }
}

async function openAndUse(
  context: CliContext,
  options: CliOptions,
  { use, stop }: { readonly use: UseEngine; readonly stop: AbortSignal },
): Promise<number> {
  let engine: Engine | undefined;
  let exitCode: number;
  try {
    const { openEngine } = await import("./engine.ts");
    engine = await openEngine(context.env, context.cwd);
    if (engine.notice !== undefined) context.stderr.write(`lily: ${engine.notice}\n`);
    exitCode = await use(engine, stop);
  } catch (error) {
    exitCode = await reportError(error, context, options);
  }
  try {
    await engine?.close();
    return exitCode;
  } catch (error) {
    // Programs have their one line of JSON already; what could not be ended is told beside it.
    const closing = await reportError(error, context, { ...options, json: false });
    return exitCode === 0 ? closing : exitCode;
  }
}

/** Tells what was thrown. Returns its exit code. */
export async function reportError(error: unknown, context: CliContext, options: CliOptions): Promise<number> {
  const { envelopeOf, exitCodeOf } = await import("#src/kernel/envelope.ts");
  const envelope = envelopeOf(error);
  if (options.json) {
    context.stdout.write(`${JSON.stringify(envelope)}\n`);
  } else {
    const { renderFailure } = await import("./render/render-envelope.ts");
    const { screenOf } = await import("./screen.ts");
    context.stderr.write(`${renderFailure(envelope, screenOf(context.stderr, context.env))}\n`);
  }
  return exitCodeOf(envelope);
}
