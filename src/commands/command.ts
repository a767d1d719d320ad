/** What a slash command is, and what it may look at and change. */
import type { Envelope } from "#src/kernel/envelope.ts";
import type { Chain, ChainEntry } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { LifecycleMode, RolloverPolicy } from "#src/sessions/rollover-policy.ts";
import type { SessionChanges } from "#src/sessions/session-changes.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Explanation } from "#src/sessions/turn-record.ts";
import type { ControlModel, Verdict } from "#src/sessions/verdict.ts";

/** What running a command may touch. A command with only `reads` changes nothing and never waits. */
export type Effect = "reads" | "session" | "memory" | "model" | "files";

/** What a command is given. */
export interface CommandContext {
  /** Wall clock, milliseconds since the epoch. */
  readonly nowMs: number;
  readonly session: SessionFields;
  readonly chain: Chain;
  readonly entry: ChainEntry;
  readonly repository: SessionRepository;
  readonly policy: RolloverPolicy;
  /** The rollover decision of the latest turn. */
  readonly verdict: Verdict | null;
  /** Model reference that would answer the next message. */
  readonly solver: string;
  /** Model that takes lifecycle decisions, and the level that named it. */
  readonly controlModel: ControlModel;
  readonly mode: LifecycleMode;
  /** Where the data lies. */
  readonly storage: string;
  /** The full form of a model reference. @throws {LilyError} `model_unknown` */
  readonly normalizeModel: (reference: string) => string;
}

/** What a command came to. Without `changes` and `recalled` nothing is committed. */
export interface CommandOutcome {
  readonly envelope: Envelope;
  readonly changes?: SessionChanges;
  readonly recalled?: NonNullable<Explanation["recalled"]>;
}

/** How a command that ends the session wants the next one to begin. */
export interface CommandRotation {
  /** Sessions that the new one continues, oldest first. */
  readonly continues: readonly string[];
  /** Text that the new session answers; `""` for none. */
  readonly text: string;
}

interface CommandBase {
  readonly name: string;
  /** One line for `/help`. */
  readonly summary: string;
  /** How it is written, e.g. `/new [text]`. */
  readonly usage: string;
  readonly effects: readonly Effect[];
}

/** A command that answers, and perhaps changes the session it is given in. */
export interface PlainCommand extends CommandBase {
  readonly kind: "plain";
  run(args: string, context: CommandContext): Promise<CommandOutcome>;
}

/** A command that ends the session. */
export interface RotatingCommand extends CommandBase {
  readonly kind: "rotating";
  /** In legacy mode it clears the context in place; one without this is refused there. */
  readonly clearsInPlace?: boolean;
  /** The text that is left to answer when the command has been carried out. */
  textBehind(args: string): string;
  /** The rotation, or the envelope that refuses it. Changes nothing. */
  plan(
    args: string,
    context: Pick<CommandContext, "chain" | "entry" | "session">,
  ): CommandRotation | Envelope;
  /** What the user is told when the rotation was made and there is no text to answer. */
  notice(ended: ChainEntry, opened: ChainEntry, chain: Chain): Envelope;
}

/** A slash command. */
export type Command = PlainCommand | RotatingCommand;

/** Whether the command can run beside a turn: it changes nothing. */
export function isReadOnly(command: Command): command is PlainCommand {
  return command.kind === "plain" && command.effects.every((effect) => effect === "reads");
}

/** Whether a plan is a refusal. */
export function isRefusal(plan: CommandRotation | Envelope): plan is Envelope {
  return "code" in plan;
}
