/** The command line: what can be typed after `lily`, and what it leads to. */
import { Command } from "commander";
import type { CliOptions } from "./context.ts";

/** What the command line leads to. */
export interface Actions {
  chat(options: CliOptions): Promise<number>;
  ask(options: CliOptions, words: readonly string[]): Promise<number>;
  sessions(options: CliOptions, query: string): Promise<number>;
  verify(options: CliOptions): Promise<number>;
}

/** Builds the program; `done` is told the exit code of the action that ran. */
export function buildProgram(version: string, actions: Actions, done: (exitCode: number) => void): Command {
  const program = new Command("lily")
    .description("Talk with Lily. Without a subcommand: a conversation, or one message a line from a pipe.")
    .version(version, "--version", "print the version")
    .helpOption("--help", "print this help")
    .option("--key <key>", "session key of the conversation (default: the configured one)")
    .option("--json", "print JSON for programs", false)
    .option("--delivery-id <id>", "id of the message; the same id again repeats the reply (ask)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const options = (): CliOptions => readOptions(program.opts());
  const finish = async (run: Promise<number>): Promise<void> => done(await run);
  program.allowExcessArguments().action(() => {
    const [unknown] = program.args;
    if (unknown === undefined) return finish(actions.chat(options()));
    return program.error(
      `error: there is no subcommand '${unknown}'; lily --help lists them, lily ask "text" sends text`,
    );
  });
  program
    .command("ask")
    .description("send one message; without text, or with -, the one on standard input")
    .argument("[text...]", "the message")
    .action((words: string[]) => finish(actions.ask(options(), words)));
  program
    .command("sessions")
    .description("list the sessions of all keys, or of --key")
    .argument("[query...]", "words that were said, or of a title")
    .action((words: string[]) => finish(actions.sessions(options(), words.join(" "))));
  program
    .command("verify")
    .description("check that everything stored is as it was committed")
    .action(() => finish(actions.verify(options())));
  return program;
}

function readOptions(values: Readonly<Record<string, unknown>>): CliOptions {
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return { key: text(values["key"]), json: values["json"] === true, deliveryId: text(values["deliveryId"]) };
}
