/** Runs a command line in this process, as a pipe would be given its output. */
import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { envelopeSchema, type Envelope } from "#src/kernel/envelope.ts";
import type { CliContext } from "../context.ts";
import { run } from "../main.ts";

/** What a command line left. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a whole command line on the home folder `home`, with `given` as a pipe. */
export async function runLine(
  home: string,
  args: readonly string[],
  given: string | Buffer = "",
  env: CliContext["env"] = {},
): Promise<Ran> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(given);
  const around = {
    env: { LILY_HOME: home, ...env },
    cwd: home,
    // Only read from and written to, as a pipe would be.
    stdin: stdin as unknown as ReadStream,
    stdout: stdout as unknown as WriteStream,
    stderr: stderr as unknown as WriteStream,
  };
  const code = await run(around, args);
  return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

/** The envelope that a program is given, alone on standard output. */
export function envelopeIn({ stdout }: Ran): Envelope {
  return envelopeSchema.parse(JSON.parse(stdout));
}
