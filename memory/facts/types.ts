/** What the fact store is asked and what it answers. */
import type { HiddenText, PolicyDenial, PolicyRule } from "../policy/verdict.ts";
import type { Domain, MemoryRecord, PersonalityDomain, SaidBy, Scope, Source } from "../record.ts";

/** On whose behalf. Comes from the run's authenticated context, never from a text or a tool's arguments. */
export interface Who {
  readonly owner: string;
  /** The agent that speaks; its own scope is read beside the global one. */
  readonly agent?: string;
  readonly sessionId?: string;
  readonly turn?: number;
}

/** A fact that wants to be remembered. */
export interface Fact {
  readonly text: string;
  /** Decided from the text when absent; `task_memory` when there is a task. */
  readonly domain?: Domain;
  readonly task?: string;
  /** `global` by default. */
  readonly scope?: Scope;
  readonly saidBy: SaidBy;
  readonly source: Source;
  /** What it is about, in a word or two: it takes the place of what holds about the same in the same domain, task and scope. */
  readonly about?: string;
  /** The id of a fact that it corrects, or the beginning of that id. */
  readonly corrects?: string;
  /** ISO 8601 instant after which the fact no longer holds. */
  readonly expiresAt?: string;
  /** It waits for a review whatever it says: nobody asked for it. */
  readonly isOffered?: boolean;
}

interface Stored {
  readonly kind: "stored";
  readonly record: MemoryRecord;
  /** Older facts that this one replaced. */
  readonly superseded: readonly MemoryRecord[];
  /** Facts about the same that still stand beside it. */
  readonly conflicts: readonly MemoryRecord[];
  /** The fact was there, but expired, archived or superseded. */
  readonly revived: boolean;
  /** The row of the decision table that chose the domain; null when the caller did. */
  readonly domainRule: string | null;
  readonly hidden: HiddenText | null;
}

interface Known {
  readonly kind: "known";
  readonly record: MemoryRecord;
  /** The owner said it again in so many words, which verifies it. */
  readonly confirmed: boolean;
  readonly superseded: readonly MemoryRecord[];
  readonly hidden: HiddenText | null;
}

/** What became of a fact. */
export type RememberOutcome =
  | Stored
  | Known
  | { readonly kind: "denied"; readonly denial: PolicyDenial }
  | { readonly kind: "quarantined"; readonly record: MemoryRecord; readonly rule: PolicyRule }
  | { readonly kind: "forgotten"; readonly forgottenAt: string };

/** Nothing of the owner has that id. */
export interface None {
  readonly kind: "none";
}

/** What of memory is read. */
export interface ShowOptions {
  /** The three personality domains by default, or task memory alone when there is a task. */
  readonly domains?: readonly Domain[];
  /** Whose task memory; `*` for every task of the owner. */
  readonly task?: string;
  /** By default `global` and the agent's own; `*` for all. */
  readonly scope?: Scope | "*";
  /** Words to look for, best match first; without them the newest comes first. */
  readonly query?: string;
  /** 50 by default. */
  readonly limit?: number;
  /** Also what expired, was archived or is superseded. */
  readonly includeAll?: boolean;
}

/** What was read. */
export interface ShowResult {
  readonly records: readonly MemoryRecord[];
  /** How many there are, of which `records` are the first. */
  readonly total: number;
  /** How many matched and were left out for their state. */
  readonly leftOut: { readonly expired: number; readonly archived: number; readonly superseded: number };
  /** Items that are no record of this version. */
  readonly unreadable: number;
}

/** What of memory a turn needs. */
export interface RecallOptions {
  /** What is asked; its words, or its meaning too where the store has vectors (`byMeaning`). */
  readonly query: string;
  /** What was said before it in the same conversation, in so many words. */
  readonly earlier?: string;
  /** Most facts that fit. */
  readonly limit: number;
  readonly byMeaning?: boolean;
  /** Whose task memory is read beside personality memory; without it none is. */
  readonly task?: string;
  /**
   * ISO instant at which the session of `who` began: persona and rules are read as they stood then, with its own changes.
   * Without it they are read as they stand.
   */
  readonly begun?: string;
}

/** What holds now and fits. */
export interface Recalled {
  /** Best match first. */
  readonly relevant: readonly MemoryRecord[];
  /** What fits `earlier`, likewise; some of it may fit the question too. */
  readonly byEarlier: readonly MemoryRecord[];
  /** All that holds, by domain, the newest of each first. */
  readonly all: readonly MemoryRecord[];
  /** Ids of what waits for a review and shares words with the question, best match first: it may not be used. */
  readonly waiting: readonly string[];
}

/** A change of a record. `null` takes an expiry away. */
export interface Change {
  readonly text?: string;
  readonly expiresAt?: string | null;
  readonly archived?: boolean;
  readonly about?: string;
  /** Another personality domain; a task's fact has none. */
  readonly domain?: PersonalityDomain;
}

/** What an import came to. */
export interface ImportReport {
  readonly added: number;
  readonly known: number;
  readonly quarantined: number;
  /** Kept out because the owner has forgotten them. */
  readonly forgotten: number;
  /** Records that now stand beside others about the same. */
  readonly conflicts: number;
  /** By place in the file. */
  readonly denied: readonly { readonly index: number; readonly denial: PolicyDenial }[];
  readonly invalid: readonly { readonly index: number; readonly reason: string }[];
}
