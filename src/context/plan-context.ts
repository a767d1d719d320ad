/**
 * Plans what one model call is given: from candidates with sizes to what each of them is given, with an entry for whatever
 * is not given whole. Pure; all sizes are estimated tokens.
 */
import type { Cut } from "#src/sessions/call-receipt.ts";

/** The pinned parts of a prompt, in the order in which they give way; the system's own text never does. */
export const GIVES_WAY = ["units", "evidence", "facts", "profile", "ledger", "tools", "persona"] as const;

/** A pinned part. */
export type PartName = (typeof GIVES_WAY)[number];

/** A pinned part that has something. */
export interface PlanPart {
  readonly name: PartName;
  /** Sizes of its entries, the one that is missed least last. */
  readonly items: readonly number[];
  /** What stands around the entries, as long as there are any. */
  readonly frame?: number;
}

/** How a turn, or a step of the tool loop, is given. */
export type TurnForm = "whole" | "collapsed" | "shortened" | "out";
export type StepForm = "whole" | "collapsed" | "out";

/** An older turn. */
export interface PlanTurn {
  readonly whole: number;
  /** With its tool results as a line each. */
  readonly collapsed: number;
  readonly shortened: number;
  /** How the call before was given it: what gave way stays so, that the prompt begins with the same bytes. */
  readonly was?: TurnForm;
}

/** A message of the model in the turn in flight with the results of its calls: given together or not at all. */
export interface PlanStep {
  readonly call: number;
  readonly results: readonly { readonly whole: number; readonly collapsed: number }[];
  readonly was?: StepForm;
}

/** What could be given. */
export interface ContextCandidates {
  readonly budgetTokens: number;
  /** The system's own text, which never gives way. */
  readonly system: number;
  /** The message that is to be answered, which never gives way. */
  readonly message: number;
  readonly parts: readonly PlanPart[];
  /** Older turns, newest first. */
  readonly turns: readonly PlanTurn[];
  /** There are turns before those, which were not even looked at. */
  readonly hasMore?: boolean;
  /** Turns that leave are told in a summary of at most so many tokens. */
  readonly summary?: number;
  /** Steps of the turn in flight, oldest first. */
  readonly steps: readonly PlanStep[];
}

/** What is given. */
export interface ContextPlan {
  readonly kind: "plan";
  /** By part of the prompt: those of the parts, `system`, `message`, `turns`, `summary`, `steps`, and `notes` on what is left out. */
  readonly tokens: Readonly<Record<string, number>>;
  readonly total: number;
  /** How many entries of each part are given, from the first. */
  readonly given: Readonly<Record<PartName, number>>;
  /** Newest first, as the candidates. */
  readonly turns: readonly TurnForm[];
  readonly steps: readonly StepForm[];
  /** Whether the turns that are out are told in a summary. */
  readonly isSummarized: boolean;
  /** Most tokens that each result of the newest step is given, where they are cut. */
  readonly resultTokens?: number;
  readonly cuts: readonly Cut[];
}

/** Not even the message fits beside the system's own text. */
export interface ContextRefusal {
  readonly kind: "refused";
  readonly message: number;
  readonly system: number;
  readonly budgetTokens: number;
}

/** The line that stands for what is left out costs at most so much; there may be one of turns and one of steps. */
export const LINE_TOKENS = 40;

/** Where room must be made it is made down to here at once, so that the next calls need not change the beginning again. */
const GOAL = 0.7;
/** What is pinned may leave less than that: of the rest this share is filled at least. */
const LEAST_FILL = 0.5;
/** A turn above this share of the room for turns is shortened before one that is older gives way for it. */
const TOO_BIG = 0.4;
/** Most of the budget that results take which the model has not read yet. */
const FRESH = 0.5;

/** Shares of the budget, and most tokens. */
const SHARES: Readonly<Partial<Record<PartName, { readonly share: number; readonly most?: number }>>> = {
  persona: { share: 0.15 },
  profile: { share: 0.15, most: 800 },
  ledger: { share: 0.1 },
  units: { share: 0.1, most: 400 },
  tools: { share: 0.2 },
};

/** Most tokens that a part takes of a budget. */
export function shareOf(name: PartName, budgetTokens: number): number {
  const { share, most = Infinity } = SHARES[name] ?? { share: 1 };
  return Math.floor(Math.min(share * budgetTokens, most));
}

/** Tokens of the shortened form of a turn. */
export function shortTokens(budgetTokens: number): number {
  return Math.max(60, Math.floor(budgetTokens / 16));
}

/** Plans a call. A plan never takes more than the budget. */
export function planContext(from: ContextCandidates): ContextPlan | ContextRefusal {
  const { budgetTokens, system, message } = from;
  if (system + message + 2 * LINE_TOKENS > budgetTokens)
    return { kind: "refused", message, system, budgetTokens };
  const plan = new Plan(from);
  plan.keepToShares();
  if (plan.total() > budgetTokens) plan.cutFreshResults(Math.floor(budgetTokens * FRESH));
  if (plan.total() > budgetTokens) {
    const goal = plan.goal();
    plan.collapseTurns(goal);
    plan.collapseSteps(goal);
    plan.dropTurns(goal);
    plan.dropSteps(goal);
    plan.dropSummary();
    plan.dropParts();
    plan.cutFreshResults(budgetTokens - plan.total() + plan.freshTokens());
    plan.dropNewestStep();
  }
  return plan.result();
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

/** A plan in the making: each step makes it smaller, or leaves it as it is. */
class Plan {
  readonly #from: ContextCandidates;
  readonly #given = new Map<PartName, number>();
  readonly #overShare = new Map<PartName, number>();
  readonly #turns: TurnForm[];
  readonly #steps: StepForm[];
  #turnSum = 0;
  #resultTokens = Infinity;
  #isSummarized: boolean;

  constructor(from: ContextCandidates) {
    this.#from = from;
    for (const { name, items } of from.parts) this.#given.set(name, items.length);
    this.#turns = from.turns.map(({ was = "whole" }) => was);
    this.#steps = from.steps.map(({ was = "whole" }, index) =>
      index === from.steps.length - 1 ? "whole" : was,
    );
    this.#turnSum = sum(from.turns.map((_, index) => this.#turnTokens(index)));
    this.#isSummarized = from.summary !== undefined;
  }

  total(): number {
    return sum(Object.values(this.#tokens()));
  }

  freshTokens(): number {
    return this.#steps.at(-1) === "out" ? 0 : sum(this.#fresh());
  }

  /** Older turns and steps make the room; of what all else leaves them they fill a share in any case. */
  goal(): number {
    const stale = sum(this.#steps.slice(0, -1).map((_, index) => this.#stepTokens(index)));
    const pinned = this.total() - this.#turnSum - stale;
    const { budgetTokens } = this.#from;
    return Math.max(budgetTokens * GOAL, pinned + (budgetTokens - pinned) * LEAST_FILL);
  }

  keepToShares(): void {
    for (const { name } of this.#from.parts) {
      const before = this.#given.get(name) ?? 0;
      this.#dropFrom(name, () => this.#partTokens(name) <= shareOf(name, this.#from.budgetTokens));
      const left = before - (this.#given.get(name) ?? 0);
      if (left > 0) this.#overShare.set(name, left);
    }
  }

  /** Gives every result of the newest step the same most, so that together they take no more than `room`. */
  cutFreshResults(room: number): void {
    const sizes = this.#fresh().toSorted((one, two) => one - two);
    if (this.#steps.at(-1) === "out" || sum(sizes) <= room) return;
    let left = Math.max(0, room);
    for (const [index, size] of sizes.entries()) {
      const each = Math.floor(left / (sizes.length - index));
      if (size > each) {
        this.#resultTokens = each;
        return;
      }
      left -= size;
    }
  }

  collapseTurns(goal: number): void {
    for (const index of oldestFirst(this.#turns)) {
      if (this.total() <= goal) return;
      const { whole = 0, collapsed = 0 } = this.#from.turns[index] ?? {};
      if (this.#turns[index] === "whole" && collapsed < whole) this.#setTurn(index, "collapsed");
    }
  }

  collapseSteps(goal: number): void {
    for (const [index, form] of this.#steps.slice(0, -1).entries()) {
      if (this.total() <= goal) return;
      if (form === "whole") this.#steps[index] = "collapsed";
    }
  }

  /** Shortens what is too big for itself, then takes the oldest out; the newest turn only where the budget demands it. */
  dropTurns(goal: number): void {
    const tooBig = Math.max(0, goal - (this.total() - this.#turnSum)) * TOO_BIG;
    for (const index of oldestFirst(this.#turns)) {
      if (this.total() <= goal) return;
      const { shortened = 0 } = this.#from.turns[index] ?? {};
      if (this.#turnTokens(index) > Math.max(tooBig, shortened)) this.#setTurn(index, "shortened");
    }
    for (const index of oldestFirst(this.#turns)) {
      if (this.total() <= (index === 0 ? this.#from.budgetTokens : goal)) return;
      this.#setTurn(index, "out");
    }
  }

  dropSummary(): void {
    if (this.total() > this.#from.budgetTokens) this.#isSummarized = false;
  }

  dropSteps(goal: number): void {
    for (const index of this.#steps.slice(0, -1).keys()) {
      if (this.total() <= goal) return;
      this.#steps[index] = "out";
    }
  }

  dropParts(): void {
    const fits = (): boolean => this.total() <= this.#from.budgetTokens;
    for (const name of GIVES_WAY) this.#dropFrom(name, fits);
  }

  /** The call itself is too big: the model is told that it is left out. */
  dropNewestStep(): void {
    if (this.total() > this.#from.budgetTokens && this.#steps.length > 0) this.#steps.fill("out");
  }

  result(): ContextPlan {
    const tokens = this.#tokens();
    return {
      kind: "plan",
      tokens,
      total: sum(Object.values(tokens)),
      given: Object.fromEntries(
        GIVES_WAY.map((name) => [name, this.#given.get(name) ?? 0]),
      ) as ContextPlan["given"],
      turns: this.#turns,
      steps: this.#steps,
      isSummarized: this.#isSummarized && this.#hasTurnsOut(),
      ...(this.#isCut() ? { resultTokens: this.#resultTokens } : {}),
      cuts: this.#cuts(),
    };
  }

  #setTurn(index: number, form: TurnForm): void {
    this.#turnSum -= this.#turnTokens(index);
    this.#turns[index] = form;
    this.#turnSum += this.#turnTokens(index);
  }

  #dropFrom(name: PartName, isEnough: () => boolean): void {
    for (let left = this.#given.get(name) ?? 0; left > 0 && !isEnough(); left -= 1)
      this.#given.set(name, left - 1);
  }

  #tokens(): Record<string, number> {
    const tokens: Record<string, number> = { system: this.#from.system };
    for (const { name } of this.#from.parts) tokens[name] = this.#partTokens(name);
    if (this.#isSummarized && this.#hasTurnsOut()) tokens["summary"] = this.#from.summary ?? 0;
    tokens["turns"] = this.#turnSum;
    tokens["message"] = this.#from.message;
    if (this.#steps.length > 0)
      tokens["steps"] = sum([...this.#steps.keys()].map((index) => this.#stepTokens(index)));
    const lines = [this.#hasTurnsOut() && !this.#isSummarized, this.#steps.includes("out")].filter(
      Boolean,
    ).length;
    if (lines > 0) tokens["notes"] = lines * LINE_TOKENS;
    return tokens;
  }

  #hasTurnsOut(): boolean {
    return this.#turns.at(-1) === "out" || this.#from.hasMore === true;
  }

  #partTokens(name: PartName): number {
    const part = this.#from.parts.find((candidate) => candidate.name === name);
    const given = this.#given.get(name) ?? 0;
    return part === undefined || given === 0 ? 0 : (part.frame ?? 0) + sum(part.items.slice(0, given));
  }

  #turnTokens(index: number): number {
    const turn = this.#from.turns[index];
    const form = this.#turns[index] ?? "out";
    return turn === undefined || form === "out" ? 0 : turn[form];
  }

  #stepTokens(index: number): number {
    const step = this.#from.steps[index];
    const form = this.#steps[index];
    if (step === undefined || form === "out") return 0;
    if (index === this.#steps.length - 1) return step.call + sum(this.#fresh());
    return (
      step.call + sum(step.results.map(({ whole, collapsed }) => (form === "whole" ? whole : collapsed)))
    );
  }

  /** Results of the newest step, which the model has not read yet. */
  #fresh(): number[] {
    return (this.#from.steps.at(-1)?.results ?? []).map(({ whole, collapsed }) =>
      whole <= this.#resultTokens ? whole : Math.max(this.#resultTokens, Math.min(whole, collapsed)),
    );
  }

  #isCut(): boolean {
    const results = this.#from.steps.at(-1)?.results ?? [];
    return this.#steps.at(-1) === "whole" && results.some(({ whole }) => whole > this.#resultTokens);
  }

  /** One entry for each kind of what is not given whole. */
  #cuts(): Cut[] {
    const cuts: Cut[] = [];
    for (const { name, items } of this.#from.parts) {
      const byShare = this.#overShare.get(name) ?? 0;
      const byRoom = items.length - byShare - (this.#given.get(name) ?? 0);
      if (byShare > 0) cuts.push({ what: name, rule: "share", count: byShare });
      if (byRoom > 0) cuts.push({ what: name, rule: "room", count: byRoom });
    }
    const count = (forms: readonly string[], form: string): number =>
      forms.filter((candidate) => candidate === form).length;
    for (const form of ["collapsed", "shortened"] as const) {
      const turns = count(this.#turns, form);
      if (turns > 0) cuts.push({ what: "turns", rule: form, count: turns });
    }
    // Beside those that nobody looked at: who reads the conversation knows how many.
    const rule = this.#isSummarized ? "summary" : "oldest_first";
    if (this.#hasTurnsOut()) cuts.push({ what: "turns", rule, count: count(this.#turns, "out") });
    const collapsed = this.#steps.flatMap((form, index) =>
      form === "collapsed" ? (this.#from.steps[index]?.results ?? []) : [],
    );
    if (collapsed.length > 0) cuts.push({ what: "results", rule: "collapsed", count: collapsed.length });
    const out = count(this.#steps, "out");
    if (out > 0) cuts.push({ what: "steps", rule: "oldest_first", count: out });
    const results = this.#from.steps.at(-1)?.results ?? [];
    const cut = this.#isCut() ? results.filter(({ whole }) => whole > this.#resultTokens).length : 0;
    if (cut > 0) cuts.push({ what: "results", rule: "shortened", count: cut });
    return cuts;
  }
}

function oldestFirst(newestFirst: readonly unknown[]): number[] {
  return [...newestFirst.keys()].toReversed();
}
