/** Runs a subcommand in this process, as a pipe would be given its output. */
import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { envelopeSchema, type Envelope } from "#src/kernel/envelope.ts";
import type { CliContext, CliOptions } from "../context.ts";

/** What a subcommand left. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A subcommand with its own arguments. */
export type Subcommand = (context: CliContext, options: CliOptions) => Promise<number>;

/** Runs `subcommand` on the home folder `home`. */
export async function runCli(
  home: string,
  subcommand: Subcommand,
  { json = false }: { readonly json?: boolean } = {},
): Promise<Ran> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const context: CliContext = {
    env: { LILY_HOME: home },
    cwd: home,
    // Only written to, as a pipe would be.
    stdin: new PassThrough() as unknown as ReadStream,
    stdout: stdout as unknown as WriteStream,
    stderr: stderr as unknown as WriteStream,
  };
  const code = await subcommand(context, { key: undefined, json, deliveryId: undefined });
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

/** The envelope that a program is given, alone on standard output. */
export function envelopeIn({ stdout }: Ran): Envelope {
  return envelopeSchema.parse(JSON.parse(stdout));
}
