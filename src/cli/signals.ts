/** What the operating system says to end the program, and what an answer is told that is stopped. */
import { LilyError } from "#src/kernel/errors.ts";

/** Signals that end the program, with the exit code that tells so. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Longest wait for a stopped answer to be stored, in milliseconds. */
const STOP_LIMIT_MS = 5000;

/** Calls `stop` at the first signal; the second one ends the process at once. Returns what takes this back. */
export function onTermination(stop: (exitCode: number) => void): () => void {
  let isStopping = false;
  const listeners = Object.entries(EXIT_CODES).map(([signal, code]) => {
    const listener = (): void => {
      if (isStopping) process.exit(code);
      isStopping = true;
      stop(code);
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}

/** Ends the process with `exitCode`, also where what was stopped does not end by itself. */
export function exitSoon(exitCode: number): void {
  setTimeout(() => process.exit(exitCode), STOP_LIMIT_MS).unref();
}

/** The reason with which a stop signal is aborted. A turn that is being answered ends as stopped instead. */
export function stopReason(): LilyError {
  return new LilyError("turn_stopped", "stopped before it was answered", {
    next: "The message was not stored; send it again when you want.",
  });
}
