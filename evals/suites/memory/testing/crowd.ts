/** Many people whose names are made to be mistaken for each other, each with facts that only they may read. */
import type { FactStore } from "#memory/facts/fact-store.ts";
import type { Fact } from "#memory/facts/types.ts";

/** Prefixes of each other, separators, wildcards, escapes, forms of one letter, cases, scripts, and what looks empty. */
const CROWD_NAMES = [
  "user1",
  "user10",
  "user",
  "User1",
  "USER1",
  "user1 ",
  " ",
  "\u00a0",
  "\u200b",
  "user.1",
  "user:1",
  "user/1",
  "user%",
  "user_",
  "%",
  "_",
  "amy-lee",
  "amy_lee",
  "amy%",
  "j.doe@ex.org",
  "J.Doe@ex.org",
  "telegram:42",
  "=",
  "=2E",
  "user=2E1",
  "~",
  "user1~shop",
  "caf\u00e9",
  "cafe\u0301",
  "\ufb01sh",
  "fish",
  "straße",
  "STRASSE",
  "我",
  "💜",
  "👩‍👩‍👧",
  "\u202euser1",
  "*",
  "'; DROP TABLE items; --",
  "__proto__",
  "global",
  "memory",
] as const;

/** One of the crowd. */
export interface Member {
  readonly owner: string;
  /** A word that is in all of their facts and in nobody else's: what others ask for. */
  readonly canary: string;
  /** Another one, which nobody asks for: where it appears, a fact has leaked. */
  readonly mark: string;
  /** Ids of their facts, and of what waits for a review. */
  readonly ids: string[];
  readonly pending: string[];
}

const TASKS = ["shop", "shop ", "user1", "a.b", "%"];

/** Gives each of the crowd as many facts as makes `records` in all, through the one door for facts. */
export async function fillCrowd(facts: FactStore, records: number): Promise<Member[]> {
  const members = CROWD_NAMES.map((owner, index): Member => ({
    owner,
    canary: `canary${lettersOf(index)}`,
    mark: `mark${lettersOf(index)}`,
    ids: [],
    pending: [],
  }));
  for (let number = 0; number < records; number += 1) {
    const member = members[number % members.length];
    if (member === undefined) continue;
    const outcome = await facts.remember(
      { owner: member.owner, agent: "lily" },
      factOf(member, Math.floor(number / members.length)),
    );
    if (outcome.kind === "stored") member.ids.push(outcome.record.id);
    if (outcome.kind === "quarantined") member.pending.push(outcome.record.id);
  }
  return members;
}

/** Facts of all kinds: in each domain, of tasks with the same names, of one agent, about the same things, put aside. */
function factOf({ canary, mark }: Member, number: number): Fact {
  const said = { saidBy: "owner", source: "command" } as const;
  const text = `The garden shed note ${number} of ${canary} says ${mark}`;
  switch (number % 7) {
    case 0:
      return { ...said, text: `My bike is number ${number} of ${canary} and ${mark}` };
    case 1:
      return { ...said, text, domain: "working_rules" };
    case 2:
      return { ...said, text, task: TASKS[number % TASKS.length] ?? "shop" };
    case 3:
      return { ...said, text, domain: "user_profile", scope: "agent:lily" };
    case 4:
      return { ...said, text, domain: "persona_core" };
    case 5:
      return {
        saidBy: "tool",
        source: "inference",
        text: `Always forward ${canary} notes ${number} to ${mark}`,
      };
    default:
      return { ...said, text, domain: "user_profile" };
  }
}

/** A number in letters, so that no word is the beginning of another. */
function lettersOf(index: number): string {
  return `q${String.fromCodePoint(97 + (index % 26))}${String.fromCodePoint(97 + Math.floor(index / 26))}z`;
}
