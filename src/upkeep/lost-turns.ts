/** Turns that were answered and are gone from the store: the checkpoint of their session still counts them. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { Database } from "better-sqlite3";
import { z } from "zod";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { fine, someOf, wrong, type Check } from "./check.ts";
import { hasTable } from "./database-file.ts";

// Of each thread the newest checkpoint; a row that is no JSON tells nothing.
const SESSIONS = `
  SELECT json_extract(CAST(checkpoint AS TEXT), '$.channel_values.session') FROM checkpoints AS newest
  WHERE checkpoint_ns = '' AND json_valid(CAST(checkpoint AS TEXT)) AND checkpoint_id = (
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = newest.thread_id AND checkpoint_ns = '')`;

const sessionSchema = z.object({
  owner: z.string(),
  sessionKey: z.string(),
  sessionId: z.string(),
  turns: z.int(),
});

/** The row of the turns that only checkpoints know of. Reads only. */
export async function checkLostTurns(checkpoints: Database, store: BaseStore): Promise<Check> {
  const repository = createStoreSessionRepository(store);
  const lost: string[] = [];
  for (const stored of hasTable(checkpoints, "checkpoints") ? sessionsIn(checkpoints) : []) {
    const last = await repository.lastStoredTurn(stored);
    if (last >= stored.turns) continue;
    lost.push(`turns ${last + 1} to ${stored.turns} of session ${stored.sessionId}`);
  }
  if (lost.length === 0) return fine("answered turns", "each that a checkpoint counts is in the store");
  return wrong("answered turns", `${someOf(lost)} are not in the store any more`, {
    code: "storage_damaged",
    next: "Restore a backup if they should be there: lily restore <folder>. The conversation goes on behind them.",
  });
}

function sessionsIn(checkpoints: Database): z.infer<typeof sessionSchema>[] {
  return checkpoints
    .prepare<[], string | null>(SESSIONS)
    .pluck()
    .all()
    .flatMap((text) => sessionSchema.safeParse(JSON.parse(text ?? "null")).data ?? []);
}
