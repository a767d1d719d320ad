/** The terminal program: what can be typed after `lily`, and what it leads to. What a subcommand needs is loaded when it runs. */
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { config as loadDotenv } from "dotenv";
import { type CliContext, isInteractive, type Surroundings } from "./context.ts";
import type { DoctorRequest } from "./doctor.ts";
import type { EraseRequest } from "./erase.ts";
import type { NewKey } from "./keys.ts";

/** Runs `lily` with `args` and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<never> {
  loadDotenv({ quiet: true });
  const { env, stdin, stdout, stderr } = process;
  // Whoever reads our output may stop reading, as `head` does.
  stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 74));
  const exitCode = await run({ env, cwd: process.cwd(), stdin, stdout, stderr }, args);
  await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
  // Connections that a model client keeps open must not hold the program.
  process.exit(exitCode);
}

/** Runs `lily` with `args` in the process that `around` describes. @returns its exit code */
export async function run(around: Surroundings, args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = new Command("lily").exitOverride().configureOutput({
    writeOut: (text) => void around.stdout.write(text),
    writeErr: (text) => void around.stderr.write(text),
  });
  const contextOf = (): CliContext => {
    const { plain, ...options } = program.opts<Omit<CliContext, keyof Surroundings> & { plain?: true }>();
    return { ...around, ...options, env: plain ? { ...around.env, LILY_PLAIN: "1" } : around.env };
  };
  const runs: Runs =
    (act) =>
    async (...given) => {
      exitCode = await act(contextOf(), ...given);
    };
  for (const add of [addConversation, addReading, addUpkeep, addServer]) add(program, runs);
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has said what is wrong; every exit of its own that is not help or version is wrong usage.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return (await import("./tell.ts")).tellError(contextOf(), error);
  }
}

/** Makes an action of a function: it is given the context and what was typed, and returns the exit code. */
type Runs = <Given extends unknown[]>(
  act: (context: CliContext, ...given: Given) => Promise<number>,
) => (...given: Given) => Promise<void>;

function addConversation(program: Command, runs: Runs): void {
  program
    .description("Talk with Lily. Without a subcommand: a conversation, or one message a line from a pipe.")
    .version(readVersion(), "--version", "print the version")
    .helpOption("--help", "print this help")
    .option("--key <key>", "session key of the conversation (default: the configured one)")
    .option("--json", "print JSON for programs", false)
    .option("--plain", "show answers as the model writes them, without rendering (LILY_PLAIN=1 does so too)")
    .option("--delivery-id <id>", "id of the message; the same id again repeats the reply (ask)")
    .configureHelp({ showGlobalOptions: true })
    .allowExcessArguments()
    .action(
      runs(async (context) => {
        const [unknown] = program.args;
        if (unknown !== undefined)
          program.error(
            `error: there is no subcommand '${unknown}'; lily --help lists them, lily ask "text" sends text`,
          );
        if (context.deliveryId !== undefined)
          program.error("error: --delivery-id names one message; use it with lily ask");
        if (isInteractive(context)) return (await import("./chat.ts")).chat(context);
        return (await import("./ask.ts")).pipe(context);
      }),
    );
  program
    .command("ask")
    .description("send one message; without text, or with -, the one on standard input")
    .argument("[text...]", "the message")
    .action(runs(async (context, words: string[]) => (await import("./ask.ts")).ask(context, words)));
}

function addReading(program: Command, runs: Runs): void {
  program
    .command("sessions")
    .description("list the sessions of all keys, or of --key")
    .argument("[query...]", "words that were said, or of a title")
    .action(
      runs(async (context, words: string[]) =>
        (await import("./list-sessions.ts")).listSessions(context, words.join(" ")),
      ),
    );
  program
    .command("tools")
    .description("list the tools that models can call, and what of their servers does not work")
    .action(
      runs(async (context) => {
        const [{ withEngine }, { tell }] = await Promise.all([
          import("./with-engine.ts"),
          import("./tell.ts"),
        ]);
        return withEngine(context, async (engine) => tell(context, await engine.tools()));
      }),
    );
  program
    .command("verify")
    .description("check that everything stored is as it was committed")
    .action(runs(async (context) => (await import("./verify.ts")).verify(context)));
}

function addUpkeep(program: Command, runs: Runs): void {
  program
    .command("backup")
    .description("copy everything that is kept, while others go on")
    .argument("[folder]", "folder to make (default: one named by the time, in backups)")
    .action(
      runs(async (context, folder: string | undefined) =>
        (await import("./backup.ts")).backup(context, folder, readVersion()),
      ),
    );
  program
    .command("restore")
    .description("put a backup in place; what is there now is kept beside it")
    .argument("<folder>", "the backup")
    .action(runs(async (context, folder: string) => (await import("./backup.ts")).restore(context, folder)));
  program
    .command("doctor")
    .description("examine everything that is kept; changes nothing without --repair")
    .option("--repair", "make a backup, then put in order what can be", false)
    .option("--model [reference]", "ask the model a few small questions instead, and show what works")
    .action(
      runs(async (context, wanted: DoctorRequest) =>
        (await import("./doctor.ts")).doctor(context, wanted, readVersion()),
      ),
    );
  program
    .command("erase")
    .description("erase a person (--owner) or a conversation (--key); /forget … --everywhere erases one fact")
    .option("--owner <name>", "whose data it is; with --key the configured owner by default")
    .option("--server <url>", "on a LangGraph server, with the header in LILY_SERVER_HEADER")
    .option("--dry-run", "show what would go, and change nothing", false)
    .option("--yes", "erase without asking", false)
    .action(
      runs(async (context, wanted: EraseRequest) => (await import("./erase.ts")).erase(context, wanted)),
    );
}

function addServer(program: Command, runs: Runs): void {
  program
    .command("serve")
    .description("serve conversations over HTTP, until a signal ends it")
    .option("--host <address>", "address to listen on (default: this machine only)")
    .option("--port <number>", "port to listen on; 0 takes a free one (default: 2025)", parsePort)
    .action(
      runs(async (context, where: { host?: string; port?: number }) =>
        (await import("./serve.ts")).serve(context, where),
      ),
    );
  const keys = program.command("keys").description("API keys of a server: new, list, revoke");
  keys
    .command("new")
    .description("make a key for an owner; it is shown once")
    .argument("<owner>", "whose data the key opens")
    .option("--label <words>", "words by which you know the key")
    .option("--expires <time>", "90d, 2027-01-31 or an instant")
    .action(
      runs(async (context, owner: string, given: Omit<NewKey, "owner">) =>
        (await import("./keys.ts")).newKey(context, { owner, ...given }),
      ),
    );
  keys
    .command("list")
    .description("list the keys")
    .action(runs(async (context) => (await import("./keys.ts")).listKeys(context)));
  keys
    .command("revoke")
    .description("take a key back")
    .argument("<key>", "its id, the first 4 digits or more of it, its label, or the key itself")
    .action(runs(async (context, which: string) => (await import("./keys.ts")).revokeKey(context, which)));
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("a port is a number from 0 to 65535.");
}

function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
