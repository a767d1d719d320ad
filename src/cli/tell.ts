/** Prints an envelope, with tables above its message; programs get the envelope alone. */
import { envelopeOf, exitCodeOf, type Envelope } from "#src/kernel/envelope.ts";
import type { CliContext } from "./context.ts";
import { renderEnvelope } from "./render/render-envelope.ts";
import { screenOf } from "./screen.ts";

/** Prints `envelope` and returns its exit code. `tables` are printable and shown whether it went well or not. */
export function tell(
  { stdout, stderr, env, json }: CliContext,
  envelope: Envelope,
  tables: readonly string[] = [],
): number {
  const output = envelope.ok ? stdout : stderr;
  if (json) stdout.write(`${JSON.stringify(envelope)}\n`);
  else {
    for (const table of tables) if (table !== "") stdout.write(`${table}\n\n`);
    output.write(`${renderEnvelope(envelope, screenOf(output, env))}\n`);
  }
  return exitCodeOf(envelope);
}

/** Tells what was thrown. Returns its exit code. */
export function tellError(context: CliContext, error: unknown): number {
  return tell(context, envelopeOf(error));
}

/** Tells of progress on the error stream; programs are told the outcome only. */
export function progressOn({ stderr, json }: CliContext): (step: string) => void {
  return (step) => {
    if (!json) stderr.write(`${step}\n`);
  };
}
