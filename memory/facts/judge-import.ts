/** Decides about one record of a memory file: in, known, forgotten, put aside or refused. */
import { checkText, reviewRule } from "../policy/check-text.ts";
import type { PolicyDenial, PolicyRule } from "../policy/verdict.ts";
import type { MemoryRecord } from "../record.ts";
import { aboutOf } from "./about.ts";
import { instantOf, type FactDeps } from "./fact-deps.ts";
import { quarantine } from "./remember.ts";
import { recordId, reread } from "./rows.ts";
import { liftTombstones, type Tombstones } from "./tombstones.ts";

/** Options of an import. */
export interface ImportOptions {
  /** The owner vouches for the file: instructions in it are let in. Secrets never are. */
  readonly isTrusted?: boolean;
  /** Brings back what the owner has forgotten. */
  readonly revive?: boolean;
}

/** What is decided; `add` is still to be put. */
export type JudgedImport =
  | { readonly kind: "known" | "forgotten" | "quarantined" }
  | { readonly kind: "denied"; readonly denial: PolicyDenial }
  | { readonly kind: "add"; readonly record: MemoryRecord };

/** Judges `record`. Its id is made anew: what a file says of it is not believed. Who Lily is and how it works waits for a review. */
export async function judgeImport(
  deps: FactDeps,
  owner: string,
  record: MemoryRecord,
  { stones, isTrusted = false, revive = false }: ImportOptions & { readonly stones: Tombstones },
): Promise<JudgedImport> {
  const verdict = await checkText(record.text, { scan: deps.scan, isTrusted });
  if (verdict.action === "deny") return { kind: "denied", denial: verdict.denial };
  const ofTask =
    record.task === null
      ? undefined
      : await checkText(record.task, { scan: deps.scan, isTrusted, isName: true });
  if (ofTask?.action === "deny") return { kind: "denied", denial: ofTask.denial };
  const { text } = verdict;
  if (stones.of(text).length > 0) {
    if (!revive) return { kind: "forgotten" };
    await liftTombstones(deps, owner, text);
  }
  const own = { ...record, text, id: recordId(owner, record, text), conflict_group: aboutOf(record) };
  if ((await reread(deps.store, owner, { ...own, review: null })) !== undefined) return { kind: "known" };
  const rule =
    verdict.action === "quarantine" ? verdict.rule : (reviewRule(own, { isTrusted }) ?? pendingRule(record));
  if (rule === null) return { kind: "add", record: own };
  const review = { state: "pending", rule, at: instantOf(deps) } as const;
  await quarantine(deps, owner, { ...own, review, supersedes: [], superseded_by: null });
  return { kind: "quarantined" };
}

/** A record that was waiting where the file comes from goes on waiting here. */
function pendingRule({ review }: MemoryRecord): PolicyRule | null {
  return review?.state === "pending" ? review.rule : null;
}
