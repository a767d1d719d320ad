/** What an interactive conversation needs once its prompt is shown; slow to load, so it is loaded behind the prompt. */
import { findSecrets } from "#memory/policy/find-secrets.ts";
import { createSecretlintScanner } from "#memory/policy/secret-scanner.ts";
import { COMMANDS } from "#src/commands/registry.ts";
import { unansweredText } from "#src/commands/unanswered-message.ts";
import { durationText } from "#src/explain/duration-text.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { type Envelope, envelopeOf, exitCodeOf } from "#src/kernel/envelope.ts";
import { counted } from "#src/kernel/markdown.ts";
import { latestEntry } from "#src/sessions/chain.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import { approvalIn } from "#src/tools/approval.ts";
import { activityOn } from "./activity.ts";
import { approvalPanel, decisionIn } from "./approval.ts";
import type { CliContext } from "./context.ts";
import type { Engine } from "./engine.ts";
import { printableKey, printableLine } from "./printable.ts";
import { renderFailure } from "./render/render-envelope.ts";
import { wrapped } from "./render/word-wrap.ts";
import { type Screen, screenOf } from "./screen.ts";
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
    welcomeText,
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

/** E.g. `cli:main goes on with session 3 “Trip” (4 turns, the last one 2 h ago)`; and what was left unanswered. */
export async function welcomeText(engine: Engine, screen: Screen): Promise<string> {
  const { notice, timeZone } = engine;
  const left = await engine.unanswered();
  const warnings = [
    ...(notice === undefined ? [] : [notice]),
    ...(left === undefined ? [] : [unansweredText(left, { timeZone, nowMs: engine.now() })]),
  ].map((text) => screen.paint.yellow(wrapped(printableLine(text), screen)));
  const where = screen.paint.dim(wrapped(await conversationText(engine), screen));
  return [where, ...warnings].join("\n");
}

async function conversationText(engine: Engine): Promise<string> {
  const { repository, owner, sessionKey } = engine;
  const key = printableKey(sessionKey);
  const chain = await repository.readChain({ owner, sessionKey });
  if (chain === undefined) return `${key} begins its first session`;
  const { sessionId, ordinal, title } = latestEntry(chain);
  const name = `session ${ordinal}${title === undefined ? "" : ` “${printableLine(title)}”`}`;
  const last = (await newestTurns(repository, chain, { sessionId, count: 1 })).at(-1);
  if (last === undefined) return `${key} goes on with ${name}, in which nothing was said yet`;
  const agoMs = Math.max(0, engine.now() - fromInstant(last.at));
  const ago = agoMs < 1000 ? "just now" : `${durationText(agoMs)} ago`;
  const turns = last.sessionId === sessionId ? `${counted(last.turn, "turn")}, ` : "";
  return `${key} goes on with ${name} (${turns}the last one ${ago})`;
}
