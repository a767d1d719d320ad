/** How a new fact is taken in: gate, then the owner's own forgetting, then review or commit. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { checkText, nameDenial, reviewRule } from "../policy/check-text.ts";
import { memoryRecordSchema, type MemoryRecord } from "../record.ts";
import { aboutOf } from "./about.ts";
import { commitRecord, quarantine } from "./commit.ts";
import { newRecord, placeOf } from "./new-record.ts";
import { find } from "./read.ts";
import { type FactDeps, instantOf } from "./rows.ts";
import { liftTombstones, readTombstones } from "./tombstones.ts";
import type { Fact, RememberOutcome, Who } from "./types.ts";

const { said_by: saidBy, source } = memoryRecordSchema.shape;

/** What the types of a program in JavaScript do not hold. */
const factSchema = z.looseObject({ text: z.string(), saidBy, source });

/** Gate, then one write. What is about the same is superseded, where the owner or the model says it. */
export async function remember(deps: FactDeps, who: Who, fact: Fact): Promise<RememberOutcome> {
  const { error } = factSchema.safeParse(fact);
  if (error !== undefined)
    throw new LilyError("memory_input_invalid", `this is no fact: ${z.prettifyError(error)}`, {
      next: "Correct it; nothing was stored.",
    });
  const isTrusted = fact.saidBy === "owner";
  const options = { scan: deps.scan, isTrusted };
  const verdict = await checkText(fact.text, options);
  if (verdict.action === "deny") return { kind: "denied", denial: verdict.denial };
  const { hidden } = verdict;
  const denial = await nameDenial([fact.task, fact.about], options);
  if (denial !== undefined) return { kind: "denied", denial };
  const corrected = await correctedBy(deps, who, fact);
  const clean = { ...placeLike(corrected, fact), text: verdict.text };
  const place = placeOf(clean);
  const record = newRecord(who, clean, place, instantOf(deps));
  const isExplicit = fact.saidBy === "owner" && fact.source === "command";
  const stones = isExplicit ? undefined : await readTombstones(deps, who.owner);
  const [stone] = stones?.of(clean.text) ?? [];
  if (stone !== undefined) return { kind: "forgotten", forgottenAt: stone.forgotten_at };
  const saysAgain = stones?.resembles(clean.text) === true;
  const asked = saysAgain ? "forgotten_before" : fact.isOffered === true ? "offered" : null;
  const rule =
    (verdict.action === "quarantine" ? verdict.rule : isTrusted ? null : reviewRule(record)) ?? asked;
  if (rule !== null) {
    const review = { state: "pending", rule, at: record.created_at } as const;
    const found = await quarantine(deps, who.owner, { ...record, review });
    return found.review?.state === "pending"
      ? { kind: "quarantined", record: found, rule }
      : { kind: "known", record: found, confirmed: false, superseded: [], hidden };
  }
  const replaces = corrected === undefined ? [] : [corrected];
  const how = { isExplicit, domainRule: place.rule, hidden, replaces };
  const outcome = await commitRecord(deps, who.owner, record, how);
  // After the put: a crash between leaves a fact that imports would not bring back, and which is there.
  if (isExplicit) await liftTombstones(deps, who.owner, clean.text);
  return outcome;
}

/** The one fact that `fact` says it corrects. */
async function correctedBy(deps: FactDeps, who: Who, { corrects }: Fact): Promise<MemoryRecord | undefined> {
  if (corrects === undefined) return undefined;
  const [found, ...others] = await find(deps, who, corrects);
  if (found !== undefined && others.length === 0) return found;
  throw new LilyError("memory_input_invalid", "no one fact has the id that was to be corrected", {
    next: "Give an id as it stands before a fact, or leave it out.",
  });
}

/** A correction lies where what it corrects lies, and is about the same, unless it says otherwise. */
function placeLike(corrected: MemoryRecord | undefined, fact: Fact): Fact {
  if (corrected === undefined) return fact;
  const { domain, task, scope } = corrected;
  const about = aboutOf(corrected);
  return {
    domain,
    scope,
    ...(task === null ? {} : { task }),
    ...(about === null ? {} : { about }),
    ...fact,
  };
}
