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
  /** How many entries of each part are given, from the first. */
  readonly given: Readonly<Record<PartName, number>>;
  /** Newest first, as the candidates. */
  readonly turns: readonly TurnForm[];
  readonly steps: readonly StepForm[];
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

/** Most of a budget that a summary takes, of all of it and of what the parts leave that never give way. */
const SUMMARY_SHARE = 0.2;
const SUMMARY_SHARE_OF_REST = 0.4;
/** With less room than this a summary says nothing. */
const LEAST_SUMMARY_TOKENS = 160;

/** Room for a summary in a budget of which other parts take so many tokens; 0 where there is too little. */
export function summaryBudget(budgetTokens: number, takenTokens = 0): number {
  const rest = (budgetTokens - takenTokens) * SUMMARY_SHARE_OF_REST;
  const tokens = Math.floor(Math.min(budgetTokens * SUMMARY_SHARE, rest));
  return tokens < LEAST_SUMMARY_TOKENS ? 0 : tokens;
}

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
  readonly #given: Record<PartName, number>;
  /** What of each part is within its share. */
  readonly #withinShare: Record<PartName, number>;
  readonly #turns: TurnForm[];
  readonly #steps: StepForm[];
  #turnSum = 0;
  #resultTokens = Infinity;
  #isSummarized: boolean;

  constructor(from: ContextCandidates) {
    this.#from = from;
    this.#given = { units: 0, evidence: 0, facts: 0, profile: 0, ledger: 0, tools: 0, persona: 0 };
    for (const { name, items } of from.parts) {
      this.#given[name] = items.length;
      this.#dropFrom(name, () => this.#partTokens(name) <= shareOf(name, from.budgetTokens));
    }
    this.#withinShare = { ...this.#given };
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
    return {
      kind: "plan",
      tokens: this.#tokens(),
      given: this.#given,
      turns: this.#turns,
      steps: this.#steps,
      ...(this.#cutResults() > 0 ? { resultTokens: this.#resultTokens } : {}),
      cuts: this.#cuts(),
    };
  }

  #setTurn(index: number, form: TurnForm): void {
    this.#turnSum -= this.#turnTokens(index);
    this.#turns[index] = form;
    this.#turnSum += this.#turnTokens(index);
  }

  #dropFrom(name: PartName, isEnough: () => boolean): void {
    while (this.#given[name] > 0 && !isEnough()) this.#given[name] -= 1;
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
    const { items = [] } = this.#from.parts.find((part) => part.name === name) ?? {};
    return sum(items.slice(0, this.#given[name]));
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

  /** How many results of the newest step are cut. */
  #cutResults(): number {
    const results = this.#steps.at(-1) === "whole" ? (this.#from.steps.at(-1)?.results ?? []) : [];
    return results.filter(({ whole }) => whole > this.#resultTokens).length;
  }

  /** One entry for each kind of what is not given whole. */
  #cuts(): Cut[] {
    const cuts: Cut[] = [];
    const add = (what: string, rule: Cut["rule"], count: number): void => {
      if (count > 0) cuts.push({ what, rule, count });
    };
    for (const { name, items } of this.#from.parts) {
      add(name, "share", items.length - this.#withinShare[name]);
      add(name, "room", this.#withinShare[name] - this.#given[name]);
    }
    for (const form of ["collapsed", "shortened"] as const) add("turns", form, countOf(this.#turns, form));
    // Beside those that nobody looked at: who reads the conversation knows how many.
    const rule = this.#isSummarized ? "summary" : "oldest_first";
    if (this.#hasTurnsOut()) cuts.push({ what: "turns", rule, count: countOf(this.#turns, "out") });
    const collapsed = this.#from.steps.filter((_, index) => this.#steps[index] === "collapsed");
    add("results", "collapsed", sum(collapsed.map(({ results }) => results.length)));
    add("steps", "oldest_first", countOf(this.#steps, "out"));
    add("results", "shortened", this.#cutResults());
    return cuts;
  }
}

function countOf(forms: readonly string[], form: string): number {
  return forms.filter((one) => one === form).length;
}

function oldestFirst(newestFirst: readonly unknown[]): number[] {
  return [...newestFirst.keys()].toReversed();
}
