/** What an interactive conversation needs once its prompt is shown; slow to load, so it is loaded behind the prompt. */
import { findSecrets } from "#memory/policy/find-secrets.ts";
import { createSecretlintScanner } from "#memory/policy/secret-scanner.ts";
import { COMMANDS } from "#src/commands/registry.ts";
import { type Envelope, envelopeOf, exitCodeOf } from "#src/kernel/envelope.ts";
import { approvalIn } from "#src/tools/approval.ts";
import { activityOn } from "./activity.ts";
import { approvalPanel, decisionIn } from "./approval.ts";
import type { CliContext } from "./context.ts";
import { renderFailure } from "./render/render-envelope.ts";
import { screenOf } from "./screen.ts";
import { sessionAfter, TurnView } from "./turn-view.ts";

/** The parts that show things and read answers. */
export type Display = ReturnType<typeof createDisplay>;

/** Makes them; faster than opening the engine. */
export function createDisplay(context: CliContext) {
  return {
    activity: activityOn(context),
    commandNames: COMMANDS.map((command) => command.name),
    approvalIn,
    approvalPanel,
    decisionIn,
    sessionAfter,
    TurnView,
    /** Whether a line must not stay in the history: memory refused it, or it holds a secret in a command that was refused. */
    async isSecret(typed: string, { ok, code }: Envelope): Promise<boolean> {
      if (code === "memory_policy_denied") return true;
      if (ok || !typed.trimStart().startsWith("/")) return false;
      return (await findSecrets(typed, createSecretlintScanner())).length > 0;
    },
    /** A failure as text, and the exit code that it means. */
    failure(error: unknown) {
      const envelope = envelopeOf(error);
      const screen = screenOf(context.stdout, context.env);
      return { text: renderFailure(envelope, screen), exitCode: exitCodeOf(envelope) };
    },
  };
}
