/** Entry of the terminal program: reads the command line and runs what it asks for. */
import { existsSync, readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { config as loadDotenv } from "dotenv";
import { type CliContext, isInteractive } from "./context.ts";
import { type Actions, buildProgram } from "./program.ts";
import type { withEngine } from "./with-engine.ts";

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

/** Runs `lily` with `args` in the process that `context` describes. @returns its exit code */
export async function run(context: CliContext, args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const env = { ...context.env };
  try {
    const actions = actionsIn({ ...context, env });
    const program = buildProgram(readVersion(), actions, (code) => (exitCode = code));
    program.on("option:plain", () => (env["LILY_PLAIN"] = "1"));
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has said what is wrong; every exit of its own that is not help or version is wrong usage.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { reportError } = await import("./with-engine.ts");
    return reportError(error, context, {
      key: undefined,
      json: args.includes("--json"),
      deliveryId: undefined,
    });
  }
}

function actionsIn(context: CliContext): Actions {
  return {
    async chat(options) {
      if (options.deliveryId !== undefined)
        return usage(context, "--delivery-id names one message; use it with lily ask");
      if (isInteractive(context) && !options.json) return (await import("./chat.ts")).chat(context, options);
      return (await import("./ask.ts")).pipe(context, options);
    },
    ask: async (options, words) => (await import("./ask.ts")).ask(context, options, words),
    sessions: (options, query) =>
      onEngine(context, options, async (engine) => {
        const { listSessions } = await import("./list-sessions.ts");
        return listSessions(engine, context, { query, options });
      }),
    tools: (options) =>
      onEngine(context, options, async (engine) => {
        const { tell } = await import("./tell.ts");
        const { next, ...told } = await engine.tools();
        // Its text has the next step in it already.
        return tell(context, options, {
          envelope: options.json && next !== undefined ? { ...told, next } : told,
        });
      }),
    async verify(options) {
      const { homeFolder } = await import("#src/app/home-folder.ts");
      const home = homeFolder(context.env, context.cwd);
      // Opening would make the folder, and a mistyped one would then count as verified.
      if (!existsSync(home)) return usage(context, `there is nothing to verify: ${home} does not exist`);
      return onEngine(context, options, async (engine) =>
        (await import("./verify.ts")).verify(engine, context, options),
      );
    },
    backup: async (options, folder) =>
      (await import("./backup.ts")).backup(context, options, { folder, program: readVersion() }),
    restore: async (options, folder) => (await import("./backup.ts")).restore(context, options, folder),
    doctor: async (options, wanted) =>
      (await import("./doctor.ts")).doctor(context, options, { ...wanted, program: readVersion() }),
    erase: async (options, wanted) => (await import("./erase.ts")).erase(context, options, wanted),
    async serve(options, where) {
      const [{ serve }, { DEFAULT_HOST, DEFAULT_PORT }] = await Promise.all([
        import("./serve.ts"),
        import("#src/server/serve.ts"),
      ]);
      return serve(context, options, { host: DEFAULT_HOST, port: DEFAULT_PORT, ...where });
    },
    newKey: async (options, wanted) => (await import("./keys.ts")).newKey(context, options, wanted),
    listKeys: async (options) => (await import("./keys.ts")).listKeys(context, options),
    revokeKey: async (options, which) => (await import("./keys.ts")).revokeKey(context, options, which),
  };
}

/** `withEngine`, loaded when it is needed. */
const onEngine: typeof withEngine = async (context, options, use) => {
  const parts = await import("./with-engine.ts");
  return parts.withEngine(context, options, use);
};

function usage({ stderr }: CliContext, message: string): number {
  stderr.write(`error: ${message}\n`);
  return 2;
}

function readVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const version =
    typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : undefined;
  return typeof version === "string" ? version : "unknown";
}
