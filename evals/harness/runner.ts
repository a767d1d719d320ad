/** The port behind which a Lily stands under evaluation: in this process, or a server by its URL. */

/** What a runner can do beyond sending messages; a case that needs more than a runner has is skipped. */
interface Capabilities {
  /** Time can be moved forward. */
  readonly clock: true;
  /** What the model was given can be read. */
  readonly modelInputs: true;
  /** The puppet model answers, so a message can make it call a tool or fail. */
  readonly puppetModel: true;
  /** The program can be ended and started again, with another configuration. */
  readonly restart: true;
  /** The control models `scripted:judge-a` and `scripted:judge-b` say what a case lets them say. */
  readonly judges: true;
  /** Messages can be sent in the name of several owners. */
  readonly owners: true;
}

/** Name of a capability. */
export type Capability = keyof Capabilities;

/** What came back for one message. */
export interface SentReply {
  /** The answer, or what a command or refusal says; without announcement and notice. */
  readonly text: string;
  /** `answered`, `command`, `rotated`, `ignored`, `refused` or `failed`. */
  readonly outcome: string;
  /** Session that holds the turn, or that is latest now; `""` when a refusal names none. */
  readonly sessionId: string;
  /** Code of the reply's envelope. */
  readonly code: string;
  /** Tells of a rollover that nobody asked for. */
  readonly announcement?: string;
  /** The delivery was handled before; this is the stored reply. */
  readonly repeated: boolean;
  /** What the reply carries for programs. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Options of {@link Runner.send}. */
export interface SendOptions {
  readonly deliveryId?: string;
  /** In whose name, where that is not the runner's own owner. Needs `owners`. */
  readonly owner?: string;
}

/** One session of a key, in the order of the chain. */
export interface SessionSummary {
  /** Place in the chain, from 1. */
  readonly ordinal: number;
  readonly sessionId: string;
  readonly latest: boolean;
  readonly sealed: boolean;
  /** Text that changes when anything sealed changes; `null` while the session is open. */
  readonly seal: string | null;
  /** Committed turns. */
  readonly turns: number;
  /** Why it was opened: `first`, `command`, `idle`, `dayBoundary` or `semantic`. */
  readonly reason: string;
  readonly previous: string | null;
  /** Sessions that it reads as its own past, oldest first. */
  readonly continues: readonly string[];
}

/** One committed turn. */
export interface HistoryTurn {
  readonly turn: number;
  /** `chat` or `command`. */
  readonly kind: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** Sessions whose turns the model was given, oldest first. */
  readonly givenSessions: readonly string[];
  /** Pieces of sealed sessions that were read in this turn, and why. */
  readonly recalled: readonly { readonly sessionId: string; readonly rationale: string }[];
  /** The rollover decision of the turn; of the change of topic, what was found and who decided. */
  readonly decision: {
    readonly action: string;
    readonly topic?: string;
    readonly decidedBy?: { readonly model: string; readonly level: string };
  };
  /** Text that changes when anything in this turn or before it changes. */
  readonly head: string;
}

/** One message of a model's input. */
export interface ModelMessage {
  /** LangChain's type: `system`, `human`, `ai`, `tool`. */
  readonly type: string;
  readonly text: string;
}

/** What a verification of a key found. */
export interface VerifyResult {
  readonly ok: boolean;
  readonly problems: readonly string[];
}

/** A Lily under evaluation. A case addresses it by session key only. */
export interface Runner {
  readonly name: string;
  /** What it cannot do is left out. */
  readonly can: Partial<Capabilities>;
  /** Sends one message; a fresh delivery id unless one is given. Never throws for what Lily refuses. */
  send(key: string, text: string, options?: SendOptions): Promise<SentReply>;
  /** The committed turns of one session alone, oldest first. */
  history(sessionId: string): Promise<HistoryTurn[]>;
  /** All sessions of a key, oldest first; empty when the key was never used. */
  sessions(key: string): Promise<SessionSummary[]>;
  /** Proves what is stored for a key against its hash chain. */
  verify(key: string): Promise<VerifyResult>;
  /** Lily's wall clock, milliseconds since the epoch. Needs `clock`. */
  now(): number;
  /** Moves Lily's clock forward by `ms`. Needs `clock`. */
  advanceClock(ms: number): void;
  /** The inputs of all model calls so far, in order. Needs `modelInputs`. */
  modelInputs(): readonly (readonly ModelMessage[])[];
  /** Ends the program and starts it again on the same data, with `config` in `config.json`. Needs `restart`. */
  restart(config?: object): Promise<void>;
  /** What both judges answer from now on, word for word. Needs `judges`. */
  judge(answer: string): void;
  close(): Promise<void>;
}

/** Where a runner finds its Lily; what a runner does not need it ignores. */
export interface RunnerOptions {
  readonly url?: string;
  readonly apiKey?: string;
}

/** Opens a runner; each case has one of its own. */
export type OpenRunner = () => Promise<Runner>;
