/** What the operating system says to end the program. */

/** Signals that end the program, with the exit code that tells so. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

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
