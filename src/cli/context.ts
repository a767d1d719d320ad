/** What every subcommand is given: the process around it, and the options that hold everywhere. */
import type { ReadStream, WriteStream } from "node:tty";

/** The process as the program sees it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

/** The process, and the options of all subcommands. */
export interface CliContext extends Surroundings {
  /** Session key; the configured one by default. */
  readonly key?: string | undefined;
  /** Print JSON for programs. */
  readonly json: boolean;
  /** Id of the message, so that sending it again repeats the reply. */
  readonly deliveryId?: string | undefined;
}

/** Whether a person sits at both ends, and reads what is shown. */
export function isInteractive({ stdin, stdout, json }: CliContext): boolean {
  return stdin.isTTY && stdout.isTTY && !json;
}
