/** What a slash command is, what it may look at and change, and how it is run. */
import type { FactStore } from "#memory/facts/fact-store.ts";
import type { Who } from "#memory/facts/types.ts";
import type { SessionAgents } from "#src/agents/session-agents.ts";
import type { PriceOf } from "#src/explain/trace.ts";
import type { Plugin, PluginProblem } from "#src/preparation/plugins.ts";
import type { Slot, UsedPlugin } from "#src/sessions/plugin-choices.ts";
import { done, envelopeOf, refused, type Envelope, type EnvelopeOptions } from "#src/kernel/envelope.ts";
import { isLilyError, LilyError, type ErrorCode } from "#src/kernel/errors.ts";
import type { Chain, ChainEntry } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { LifecycleMode, RolloverPolicy } from "#src/sessions/rollover-policy.ts";
import type { SessionChanges } from "#src/sessions/session-changes.ts";
import type { CompactedTo, Manner, SessionFields } from "#src/sessions/session-fields.ts";
import type { KnowledgeUnit } from "#src/sessions/knowledge-units.ts";
import type { Message } from "#src/sessions/message.ts";
import type { Explanation, TurnRecord } from "#src/sessions/turn-record.ts";
import type { EvidenceBook } from "#memory/evidence/evidence-book.ts";
import type { EvidenceFile } from "#memory/evidence/read-document.ts";
import type { PolicyVerdict } from "#memory/policy/verdict.ts";
import type { SessionTools } from "#src/tools/session-tools.ts";
import type { CommandErasing } from "./command-erasing.ts";
import type { UnansweredMessage } from "./unanswered-message.ts";
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
  /** Most characters of what is recalled at once. */
  readonly recallCharacters: number;
  /** The rollover decision of the latest turn. */
  readonly verdict: Verdict | null;
  /** Model reference that would answer the next message. */
  readonly solver: string;
  /** How its model answers where the user has not said so. */
  readonly configured: Manner;
  /** Model that takes lifecycle decisions, and the level that named it. */
  readonly controlModel: ControlModel;
  readonly mode: LifecycleMode;
  /** Where the data lies. */
  readonly storage: string;
  /** What prepares the turns of the session. */
  readonly plugins: SessionPlugins;
  /** The full form of a model reference. @throws {LilyError} `model_unknown` */
  readonly normalizeModel: (reference: string) => string;
  /** What the policy says of a text, or a name, that the person wants kept, also where memory is switched off. Stores nothing. */
  readonly gate: (text: string, isName?: boolean) => Promise<PolicyVerdict>;
  readonly agents: SessionAgents;
  readonly tools: SessionTools;
  /** Summarises older turns; absent where nothing is changed. */
  readonly compact?: ((instructions: string) => Promise<CompactOutcome>) | undefined;
  /** Long-term memory of the owner; `undefined` when it is switched off. */
  readonly memory?: CommandMemory | undefined;
  /** Documents that are cited and are no facts; there where memory is. */
  readonly evidence?: EvidenceBook | undefined;
  /** Erasing everywhere; absent where it cannot be done. */
  readonly erasing?: CommandErasing | undefined;
  /** The message that a program which ended has left unanswered; absent where that cannot be known. */
  readonly unanswered?: (() => Promise<UnansweredMessage | undefined>) | undefined;
  /** What models cost, as far as it is known. */
  readonly priceOf: PriceOf;
  /** The prompt of a model call of a turn of this session, by its place among the calls; absent where nothing can be read. */
  readonly promptOf?: ((turn: TurnRecord, call: number) => Promise<ShownPrompt | undefined>) | undefined;
  /** Files of the person who gives the command; absent where that is not the person at this machine. */
  readonly files?: CommandFiles | undefined;
}

/** The plugins there are, and those of the session's next turn. */
export interface SessionPlugins {
  readonly all: readonly Plugin[];
  readonly problems: readonly PluginProblem[];
  readonly used: Readonly<Partial<Record<Slot, UsedPlugin>>>;
  /** Why one cannot be used here; `undefined` when it can. */
  readonly objection: (plugin: Plugin) => string | undefined;
}

/** The messages that a model was given. */
export interface ShownPrompt {
  readonly messages: readonly Omit<Message, "timestamp">[];
  /** They are what was sent; otherwise something in them was forgotten, erased or changed since. */
  readonly isExact: boolean;
}

/** What summarising older turns came to. */
export type CompactOutcome =
  | { readonly kind: "nothing"; readonly why: string }
  | {
      readonly kind: "compacted";
      readonly boundary: CompactedTo;
      readonly turns: number;
      /** Estimated tokens of those turns, and of the summary. */
      readonly before: number;
      readonly tokens: number;
      /** Reference of the model that wrote it, or `built-in`; and why a model that was asked did not. */
      readonly by: string;
      readonly whyNot?: string;
      readonly notices: readonly string[];
    };

/** Files by their path, relative to where the person is. */
export interface CommandFiles {
  /**
   * The text of an ordinary file in UTF-8 or UTF-16, without its mark; `~/` is the person's home folder.
   *
   * @throws {LilyError} `file_failed`, `file_too_large`
   */
  read(path: string): Promise<string>;
  /**
   * At most `maxBytes` of an ordinary file; `~/` is the person's home folder.
   *
   * @throws {LilyError} `file_failed`, `file_too_large`
   */
  readBytes(path: string, maxBytes: number): Promise<EvidenceFile>;
  /**
   * Writes a new file for its owner alone and gives its full path; `~/` is the person's home folder. With `kept`, `path` is a name alone: the file lies
   * beside what Lily keeps, with a number behind its name where there is such a file already.
   *
   * @throws {LilyError} `file_failed`
   */
  write(path: string, text: string, place?: "kept"): Promise<string>;
}

/** What a command came to. Without `changes`, `recalled` and `isCommitted` nothing is committed. */
export interface CommandOutcome {
  readonly envelope: Envelope;
  /** It changed something outside the session: committed as a turn, so that its delivery is answered once. */
  readonly isCommitted?: boolean;
  readonly changes?: SessionChanges;
  readonly recalled?: NonNullable<Explanation["recalled"]>;
  /** Knowledge units that come in with its turn, which is committed. */
  readonly units?: readonly KnowledgeUnit[];
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
  readonly kind?: undefined;
  /** Whether these arguments ask for nothing but reading, though others may not. */
  onlyReads?(args: string): boolean;
  /**
   * Refuses what stands against these arguments whatever the session, before anything is done with their text; not asked
   * where they only read. Changes nothing.
   *
   * @throws {LilyError} which is what the person is told
   */
  check?(args: string, context: CommandContext): Promise<void>;
  /**
   * Carries it out. An envelope alone: nothing is committed.
   *
   * @throws {LilyError} which is what the person is told, then nothing is committed either
   */
  run(args: string, context: CommandContext): Promise<CommandOutcome | Envelope>;
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

export type Command = PlainCommand | RotatingCommand;

/** Whether the command can run beside a turn with these arguments: they change nothing. */
export function readsOnly(command: Command, args: string): boolean {
  const { effects } = command;
  if (command.kind === "rotating") return false;
  return effects.every((effect) => effect === "reads") || command.onlyReads?.(args) === true;
}

/** Whether a plan is a refusal. */
export function isRefusal(plan: CommandRotation | Envelope): plan is Envelope {
  return "code" in plan;
}

/** The outcome of a command that did something outside the session. */
export function committed(code: string, message: string, options: EnvelopeOptions = {}): CommandOutcome {
  return { envelope: done(code, message, options), isCommitted: true };
}

/** Runs a command. @returns also what it throws for the person who gave it */
export async function runPlain(
  command: PlainCommand,
  args: string,
  context: CommandContext,
): Promise<CommandOutcome> {
  const outcome = await orRefusal(() => command.run(args, context));
  return "envelope" in outcome ? outcome : { envelope: outcome };
}

/** What `action` gives, or what it throws for a person as the envelope that tells of it. */
export async function orRefusal<T>(action: () => Promise<T>): Promise<T | Envelope> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof Refusal) return error.envelope;
    if (isLilyError(error)) return envelopeOf(error);
    throw error;
  }
}

/** Ends a command with an envelope that refuses it, from wherever its arguments are read or something is looked up. */
class Refusal extends LilyError {
  readonly envelope: Envelope;

  constructor(envelope: Envelope) {
    super(
      envelope.code as ErrorCode,
      envelope.message,
      envelope.next === undefined ? {} : { next: envelope.next },
    );
    this.envelope = envelope;
  }
}

/** Refuses what a command is asked for. */
export function refuse(code: ErrorCode, message: string, options: EnvelopeOptions = {}): never {
  throw new Refusal(refused(code, message, options));
}

/** The memory of the owner who gives the command. */
export interface CommandMemory {
  readonly facts: FactStore;
  readonly who: Who;
}
