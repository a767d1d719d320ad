/** Checkpoints that an erasure takes along: all of a session whose turns are erased, or whose stored states say it. */
import { stringsIn } from "#src/kernel/strings-in.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import type { Says } from "./says.ts";

/**
 * Whether a stored state of the thread says it. Looked at message by message and as a whole: one that cannot be read
 * may say anything, and counts.
 */
export async function threadSays(
  { checkpointer, erasure }: Pick<ErasureDeps["storage"], "checkpointer" | "erasure">,
  threadId: string,
  says: Says,
): Promise<boolean> {
  try {
    const texts = (await erasure?.storedTexts?.(threadId)) ?? [];
    if (texts.some((text) => says(stringsIn(text).join("\n")))) return true;
    const config = { configurable: { thread_id: threadId } };
    // The newest may be in memory alone.
    const newest = await checkpointer.getTuple(config);
    if (newest !== undefined && stateSays(newest, says)) return true;
    if (erasure?.storedTexts !== undefined) return false;
    for await (const tuple of checkpointer.list(config)) if (stateSays(tuple, says)) return true;
    return false;
  } catch {
    return true;
  }
}

function stateSays(
  {
    checkpoint,
    metadata,
    pendingWrites,
  }: { checkpoint: unknown; metadata?: unknown; pendingWrites?: unknown },
  says: Says,
): boolean {
  const plain: unknown = JSON.parse(JSON.stringify([checkpoint, metadata ?? null, pendingWrites ?? null]));
  return says(stringsIn(plain).join("\n"));
}

/** Whether anything is stored of the thread. */
export async function hasCheckpoints(
  { checkpointer, erasure }: Pick<ErasureDeps["storage"], "checkpointer" | "erasure">,
  threadId: string,
): Promise<boolean> {
  try {
    const texts = await erasure?.storedTexts?.(threadId);
    if (texts !== undefined && texts.length > 0) return true;
    return (await checkpointer.getTuple({ configurable: { thread_id: threadId } })) !== undefined;
  } catch {
    return true;
  }
}
