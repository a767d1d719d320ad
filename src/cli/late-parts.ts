/** What an interactive conversation needs once its prompt is shown; slow to load, so it is loaded behind the prompt. */
import { findSecrets } from "#memory/policy/find-secrets.ts";
import { createSecretlintScanner } from "#memory/policy/secret-scanner.ts";
import { COMMANDS } from "#src/commands/registry.ts";
import { type Envelope, envelopeOf, exitCodeOf } from "#src/kernel/envelope.ts";
import { approvalIn, type Approval } from "#src/tools/approval.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { createActivity, noActivity, type Activity } from "./activity.ts";
import { approvalPanel, decisionIn } from "./approval.ts";
import type { CliContext } from "./context.ts";
import type { Engine } from "./engine.ts";
import type { LineInput } from "./input/line-input.ts";
import { renderFailure } from "./render/render-envelope.ts";
import { screenOf, type Screen } from "./screen.ts";
import { TurnView, type TurnViewOptions } from "./turn-view.ts";

/** The parts that show things. */
export interface Display {
  readonly activity: Activity;
  readonly commandNames: readonly string[];
  createTurnView(options: TurnViewOptions): TurnView;
  /** The call that a reply asks about, how it is shown, and what a line says to it. */
  readonly approvalIn: (reply: TurnReply) => Approval | undefined;
  readonly approvalPanel: typeof approvalPanel;
  readonly decisionIn: typeof decisionIn;
  /** Whether a line must not stay in the history: memory refused it, or it holds a secret in a command that was refused. */
  isSecret(typed: string, envelope: Envelope): Promise<boolean>;
  /** A failure as text, and the exit code that it means. */
  failure(error: unknown, screen: Screen): { readonly text: string; readonly exitCode: number };
}

/** Loads what shows things; faster than {@link loadEngine}. */
export function createDisplay({ stderr, env }: CliContext): Display {
  return {
    activity: stderr.isTTY ? createActivity(stderr, screenOf(stderr, env)) : noActivity,
    commandNames: COMMANDS.map((command) => command.name),
    approvalIn: ({ envelope }) => approvalIn(envelope.data),
    approvalPanel,
    decisionIn,
    createTurnView: (options) => new TurnView(options),
    async isSecret(typed, { ok, code }) {
      if (code === "memory_policy_denied") return true;
      if (ok || !typed.trimStart().startsWith("/")) return false;
      return (await findSecrets(typed, createSecretlintScanner())).length > 0;
    },
    failure(error, screen) {
      const envelope = envelopeOf(error);
      return { text: renderFailure(envelope, screen), exitCode: exitCodeOf(envelope) };
    },
  };
}

/** Opens the engine. @throws {LilyError} `config_invalid`, or what the storage says of its files */
export async function loadEngine(
  { env, cwd }: CliContext,
  input: Pick<LineInput, "forgetSaying">,
): Promise<Engine> {
  const { openEngine } = await import("./engine.ts");
  return openEngine(env, cwd, input);
}
