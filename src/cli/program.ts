/** The command line: what can be typed after `lily`, and what it leads to. */
import { Command, InvalidArgumentError } from "commander";
import type { CliOptions } from "./context.ts";
import type { EraseRequest } from "./erase.ts";
import type { NewKey } from "./keys.ts";

/** What the command line leads to. */
export interface Actions {
  chat(options: CliOptions): Promise<number>;
  ask(options: CliOptions, words: readonly string[]): Promise<number>;
  sessions(options: CliOptions, query: string): Promise<number>;
  tools(options: CliOptions): Promise<number>;
  verify(options: CliOptions): Promise<number>;
  backup(options: CliOptions, folder: string | undefined): Promise<number>;
  restore(options: CliOptions, folder: string): Promise<number>;
  doctor(
    options: CliOptions,
    request: { readonly repair: boolean; readonly model?: boolean | string },
  ): Promise<number>;
  erase(options: CliOptions, wanted: EraseRequest): Promise<number>;
  serve(options: CliOptions, where: { readonly host?: string; readonly port?: number }): Promise<number>;
  newKey(options: CliOptions, wanted: NewKey): Promise<number>;
  listKeys(options: CliOptions): Promise<number>;
  revokeKey(options: CliOptions, which: string): Promise<number>;
}

/** Builds the program; `done` is told the exit code of the action that ran. */
export function buildProgram(version: string, actions: Actions, done: (exitCode: number) => void): Command {
  const program = new Command("lily")
    .description("Talk with Lily. Without a subcommand: a conversation, or one message a line from a pipe.")
    .version(version, "--version", "print the version")
    .helpOption("--help", "print this help")
    .option("--key <key>", "session key of the conversation (default: the configured one)")
    .option("--json", "print JSON for programs", false)
    .option("--plain", "show answers as the model writes them, without rendering (LILY_PLAIN=1 does so too)")
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
    .command("tools")
    .description("list the tools that models can call, and what of their servers does not work")
    .action(() => finish(actions.tools(options())));
  program
    .command("verify")
    .description("check that everything stored is as it was committed")
    .action(() => finish(actions.verify(options())));
  program
    .command("serve")
    .description("serve conversations over HTTP, until a signal ends it")
    .option("--host <address>", "address to listen on (default: this machine only)")
    .option("--port <number>", "port to listen on; 0 takes a free one (default: 2025)", parsePort)
    .action((where: { host?: string; port?: number }) => finish(actions.serve(options(), where)));
  addUpkeepCommands(program, { actions, options, finish });
  addKeyCommands(program, { actions, options, finish });
  return program;
}

interface Wiring {
  readonly actions: Actions;
  readonly options: () => CliOptions;
  readonly finish: (run: Promise<number>) => Promise<void>;
}

function addUpkeepCommands(program: Command, { actions, options, finish }: Wiring): void {
  program
    .command("backup")
    .description("copy everything that is kept, while others go on")
    .argument("[folder]", "folder to make (default: one named by the time, in backups)")
    .action((folder: string | undefined) => finish(actions.backup(options(), folder)));
  program
    .command("restore")
    .description("put a backup in place; what is there now is kept beside it")
    .argument("<folder>", "the backup")
    .action((folder: string) => finish(actions.restore(options(), folder)));
  program
    .command("doctor")
    .description("examine everything that is kept; changes nothing without --repair")
    .option("--repair", "make a backup, then put in order what can be", false)
    .option("--model [reference]", "ask the model a few small questions instead, and show what works")
    .action((wanted: { repair: boolean; model?: boolean | string }) =>
      finish(actions.doctor(options(), wanted)),
    );
  program
    .command("erase")
    .description("erase a person (--owner) or a conversation (--key); /forget … --everywhere erases one fact")
    .option("--owner <name>", "whose data it is; with --key the configured owner by default")
    .option("--server <url>", "on a LangGraph server, with the header in LILY_SERVER_HEADER")
    .option("--dry-run", "show what would go, and change nothing", false)
    .option("--yes", "erase without asking", false)
    .action((wanted: EraseRequest) => finish(actions.erase(options(), wanted)));
}

function addKeyCommands(program: Command, { actions, options, finish }: Wiring): void {
  const keys = program.command("keys").description("API keys of a server: new, list, revoke");
  keys
    .command("new")
    .description("make a key for an owner; it is shown once")
    .argument("<owner>", "whose data the key opens")
    .option("--label <words>", "words by which you know the key")
    .option("--expires <time>", "90d, 2027-01-31 or an instant")
    .action((owner: string, given: { label?: string; expires?: string }) =>
      finish(actions.newKey(options(), { owner, ...given })),
    );
  keys
    .command("list")
    .description("list the keys")
    .action(() => finish(actions.listKeys(options())));
  keys
    .command("revoke")
    .description("take a key back")
    .argument("<key>", "its id, the first 4 digits or more of it, its label, or the key itself")
    .action((which: string) => finish(actions.revokeKey(options(), which)));
}

function readOptions(values: Readonly<Record<string, unknown>>): CliOptions {
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return { key: text(values["key"]), json: values["json"] === true, deliveryId: text(values["deliveryId"]) };
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("a port is a number from 0 to 65535.");
}
