/** What a turn is given beside the conversation: facts and passages of documents, asked for in one go. */
import type { EvidenceSection } from "#src/context/evidence-section.ts";
import type { MemorySection } from "#src/context/memory-section.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { gatherReads } from "#memory/stores/gather-reads.ts";
import { memoryForTurn, type RecallSubject } from "./recall-memory.ts";
import { evidenceForTurn } from "./run-evidence.ts";
import type { RunContext } from "./run-context.ts";

/** Both, each within its budget. */
export interface Recalled {
  readonly facts: MemorySection;
  readonly evidence: EvidenceSection;
}

/** Reads both. Of somebody who has neither, that is one question to the store. */
export async function recalledForTurn(
  deps: SessionDeps,
  run: RunContext,
  subject: RecallSubject,
): Promise<Recalled> {
  const reading = { ...run, store: gatherReads(run.store) };
  const [facts, evidence] = await Promise.all([
    memoryForTurn(deps, reading, subject),
    evidenceForTurn(deps, reading, subject),
  ]);
  return { facts, evidence };
}
