/** Runs something once on an open engine, for subcommands that end by themselves. */
import type { CliContext } from "./context.ts";
import type { Engine } from "./engine.ts";
import { exitSoon, onTermination, stopReason } from "./signals.ts";
import { tellError } from "./tell.ts";

/**
 * Opens the engine, uses it and closes it. A signal stops the answer that is being written, which keeps what there is
 * of it. What goes wrong is reported; the exit code tells which kind it was.
 */
export async function withEngine(
  context: CliContext,
  use: (engine: Engine, stop: AbortSignal) => Promise<number>,
): Promise<number> {
  const stop = new AbortController();
  let signalled: number | undefined;
  const forget = onTermination((exitCode) => {
    signalled = exitCode;
    stop.abort(stopReason());
    exitSoon(exitCode);
  });
  try {
    // A signal is heeded also while this loads.
    const { openEngine } = await import("./engine.ts");
    const engine = await openEngine(context);
    if (engine.notice !== undefined) context.stderr.write(`lily: ${engine.notice}\n`);
    const used = await use(engine, stop.signal).catch((error: unknown) => tellError(context, error));
    // Programs have their one line of JSON already; what could not be ended is told beside it.
    const closed = await engine.close().then(
      () => 0,
      (error: unknown) => tellError({ ...context, json: false }, error),
    );
    return signalled ?? (used === 0 ? closed : used);
  } finally {
    forget();
  }
}
