/** What a turn is given beside the conversation: facts and passages of documents. */
import type { EvidenceSection } from "#src/context/evidence-section.ts";
import type { MemorySection } from "#src/context/memory-section.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { memoryForTurn, type RecallSubject } from "./recall-memory.ts";
import { evidenceForTurn } from "./run-evidence.ts";
import type { RunContext } from "./run-context.ts";

/** Both, each within its budget. */
export interface Recalled {
  readonly facts: MemorySection;
  readonly evidence: EvidenceSection;
}

/** Reads both. */
export async function recalledForTurn(
  deps: SessionDeps,
  run: RunContext,
  subject: RecallSubject,
): Promise<Recalled> {
  const [facts, evidence] = await Promise.all([
    memoryForTurn(deps, run, subject),
    evidenceForTurn(deps, run, subject),
  ]);
  return { facts, evidence };
}
