/** Runs a subcommand in this process, as a pipe would be given its output. */
import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { envelopeSchema, type Envelope } from "#src/kernel/envelope.ts";
import type { CliContext, CliOptions } from "../context.ts";
import { run } from "../main.ts";

/** What a subcommand left. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A subcommand with its own arguments. */
export type Subcommand = (context: CliContext, options: CliOptions) => Promise<number>;

/** Runs `subcommand` on the home folder `home`. */
export function runCli(
  home: string,
  subcommand: Subcommand,
  { json = false, env = {} }: { readonly json?: boolean; readonly env?: CliContext["env"] } = {},
): Promise<Ran> {
  return runIn(home, (context) =>
    subcommand(
      { ...context, env: { ...context.env, ...env } },
      { key: undefined, json, deliveryId: undefined },
    ),
  );
}

/** Runs a whole command line on the home folder `home`, with `stdin` as a pipe. */
export function runLine(
  home: string,
  args: readonly string[],
  stdin: string | Buffer = "",
  env: CliContext["env"] = {},
): Promise<Ran> {
  return runIn(home, (context) => run({ ...context, env: { ...context.env, ...env } }, args), stdin);
}

async function runIn(
  home: string,
  work: (context: CliContext) => Promise<number>,
  given?: string | Buffer,
): Promise<Ran> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  // Only written to, as a pipe would be, unless it has something to say.
  if (given !== undefined) stdin.end(given);
  const context: CliContext = {
    env: { LILY_HOME: home },
    cwd: home,
    stdin: stdin as unknown as ReadStream,
    stdout: stdout as unknown as WriteStream,
    stderr: stderr as unknown as WriteStream,
  };
  const code = await work(context);
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

/** The envelope that a program is given, alone on standard output. */
export function envelopeIn({ stdout }: Ran): Envelope {
  return envelopeSchema.parse(JSON.parse(stdout));
}
