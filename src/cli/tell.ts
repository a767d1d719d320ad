/** Prints an envelope with tables between its message and its next step; programs get the envelope alone. */
import { exitCodeOf, type Envelope } from "#src/kernel/envelope.ts";
import type { CliContext, CliOptions } from "./context.ts";
import { renderEnvelope, renderFailure } from "./render/render-envelope.ts";
import { screenOf } from "./screen.ts";

/** Prints `envelope` and returns its exit code. `tables` are printable and shown whether it went well or not. */
export function tell(
  { stdout, stderr, env }: CliContext,
  { json }: CliOptions,
  { envelope, tables = [] }: { readonly envelope: Envelope; readonly tables?: readonly string[] },
): number {
  const shown = tables.filter((table) => table !== "");
  if (json) stdout.write(`${JSON.stringify(envelope)}\n`);
  else if (envelope.ok) {
    const { next, ...told } = envelope;
    const screen = screenOf(stdout, env);
    const parts = [
      ...shown,
      renderEnvelope(told, screen),
      ...(next === undefined ? [] : [screen.paint.dim(next)]),
    ];
    stdout.write(`${parts.join("\n\n")}\n`);
  } else {
    if (shown.length > 0) stdout.write(`${shown.join("\n\n")}\n`);
    stderr.write(`${renderFailure(envelope, screenOf(stderr, env))}\n`);
  }
  return exitCodeOf(envelope);
}

/** Tells of progress on the error stream; programs are told the outcome only. */
export function progressOn({ stderr }: CliContext, { json }: CliOptions): (step: string) => void {
  return (step) => {
    if (!json) stderr.write(`${step}\n`);
  };
}
