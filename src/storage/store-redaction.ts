/** Erasing turns from a stored session: the chain lists which, and marks stand in their place. */
import type { BaseStore, PutOperation, SearchItem } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import type { Chain } from "#src/sessions/chain.ts";
import {
  eraseTurnsFromChain,
  deliveryIdsOf,
  redactedTurnSchema,
  redactTurn,
  type RedactedTurn,
  erasedTurns,
} from "#src/sessions/redaction.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { turnRecordSchema } from "#src/sessions/turn-record.ts";
import { fromTurnItem, putAll, historyNamespace, transcriptIn, turnItemKey } from "./session-items.ts";

/** How the chain itself is read and put. */
export type ChainMethods = Pick<SessionRepository, "readChain" | "writeChain">;

interface TurnsToErase {
  readonly ref: KeyRef;
  readonly turns: readonly { readonly sessionId: string; readonly turn: number }[];
  readonly at: string;
}

/** Erases turns, as `SessionRepository.redactTurns` promises. */
export async function redactTurns(
  store: BaseStore,
  chains: ChainMethods,
  { ref, turns, at }: TurnsToErase,
): Promise<{ redacted: number }> {
  const items = await Promise.all(
    turns.map(({ sessionId, turn }) => store.get(historyNamespace({ ...ref, sessionId }), turnItemKey(turn))),
  );
  const stored = items.filter((item) => item !== null && item !== undefined).map((item) => markOf(item, at));
  const chain = await chains.readChain(ref);
  // Turns without a chain are erased all the same; that they have none is told by verify.
  const listed = chain === undefined ? undefined : await listFirst(chains, chain, { at, marks: stored });
  const puts = stored.filter(({ isNew }) => isNew).map(({ mark }) => putOf(ref, datedAs(listed, mark)));
  await putAll(store, puts);
  return { redacted: puts.length };
}

interface Mark {
  readonly mark: RedactedTurn;
  /** The body is still there. */
  readonly isNew: boolean;
}

/** What is kept of a record that is damaged: it may say what is to be erased all the same. */
const keptSchema = z.object({
  kind: z.enum(["chat", "command"]).catch("chat"),
  deliveryId: z.string().catch(""),
  at: z.string().catch(""),
  leaf: z.string().catch(""),
  head: z.string().catch(""),
});

function markOf(item: Pick<SearchItem, "namespace" | "key" | "value">, at: string): Mark {
  const value = fromTurnItem(item.value, item);
  const record = turnRecordSchema.safeParse(value);
  if (record.success) return { mark: redactTurn(record.data, at), isNew: true };
  const mark = redactedTurnSchema.safeParse(value);
  if (mark.success) return { mark: mark.data, isNew: false };
  const sessionId = transcriptIn(item.namespace)?.sessionId ?? "";
  const turn = Number.parseInt(item.key, 10);
  return { mark: { v: 1, sessionId, turn, redacted: { at }, ...keptSchema.parse(value) }, isNew: true };
}

async function listFirst(
  chains: ChainMethods,
  chain: Chain,
  { at, marks }: { readonly at: string; readonly marks: readonly Mark[] },
): Promise<Chain> {
  const turns = marks.map(({ mark: { sessionId, turn } }) => ({ sessionId, turn }));
  const deliveryIds = new Set(marks.flatMap(({ mark }) => deliveryIdsOf(mark)));
  const after = eraseTurnsFromChain(chain, { at, turns, deliveryIds });
  if (after !== chain) await chains.writeChain(after);
  return after;
}

/** An erasure that is finished later happened when it was listed. */
function datedAs(listed: Chain | undefined, mark: RedactedTurn): RedactedTurn {
  const at = listed === undefined ? undefined : erasedTurns(listed, mark.sessionId).get(mark.turn);
  return at === undefined ? mark : { ...mark, redacted: { at } };
}

function putOf(ref: KeyRef, mark: RedactedTurn): PutOperation {
  return {
    namespace: historyNamespace({ ...ref, sessionId: mark.sessionId }),
    key: turnItemKey(mark.turn),
    value: { ...mark },
    index: false,
  };
}
