/** Erasing what was said from stored sessions: turns become marks, failed turns go, chains list what went. */
import type { BaseStore, PutOperation, SearchItem } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import type { Chain } from "#src/sessions/chain.ts";
import { erasePartsFromChain, eraseTurnsFromChain } from "#src/sessions/erase-from-chain.ts";
import { deliveryIdsOf, redactedTurnSchema, redactTurn, type RedactedTurn } from "#src/sessions/redaction.ts";
import { erasedTurns } from "#src/sessions/redaction-list.ts";
import type { KeyRef, SayingTurn, SessionRepository } from "#src/sessions/repository.ts";
import { turnRecordSchema } from "#src/sessions/turn-record.ts";
import { itemsUnder, putAll, searchAll } from "./session-items.ts";
import {
  explanationsOf,
  historyNamespace,
  transcriptIn,
  transcriptsOf,
  turnItemKey,
} from "./session-namespaces.ts";
import { stringsOf } from "./stored-strings.ts";
import { fromTurnItem, toMarkItem } from "./turn-item.ts";

/** The methods of a session repository that erase. */
export type RedactionMethods = Pick<
  SessionRepository,
  "redactTurns" | "findTurns" | "eraseFailures" | "eraseChainTexts"
>;

/** What they take of the rest of the repository. */
export type ChainMethods = Pick<SessionRepository, "readChain" | "writeChain" | "listChains">;

/** Makes them. */
export function redactionMethods(store: BaseStore, chains: ChainMethods): RedactionMethods {
  return {
    redactTurns: (ref, turns, at) => redactTurns(store, chains, { ref, turns, at }),
    findTurns: (owner, says) => findTurns(store, owner, says),
    eraseFailures: (owner, says) => eraseFailures(store, owner, says),
    eraseChainTexts: (owner, says, at) => eraseChainTexts(chains, { owner, says, at }),
  };
}

interface TurnsToErase {
  readonly ref: KeyRef;
  readonly turns: readonly { readonly sessionId: string; readonly turn: number }[];
  readonly at: string;
}

async function redactTurns(
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
  /** Units of knowledge in the body. */
  readonly units?: number;
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
  if (record.success)
    return { mark: redactTurn(record.data, at), isNew: true, units: record.data.units?.length ?? 0 };
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
    value: toMarkItem(mark),
    index: false,
  };
}

async function* findTurns(
  store: BaseStore,
  owner: string,
  says: (text: string) => boolean,
): AsyncGenerator<SayingTurn> {
  for await (const item of itemsUnder(store, transcriptsOf(owner))) {
    const ref = transcriptIn(item.namespace);
    const { isNew, mark, units = 0 } = markOf(item, "");
    if (ref === undefined || !isNew) continue;
    const strings = stringsOf(item.value);
    if (!says(strings.join("\n"))) continue;
    yield { ref, turn: mark.turn, at: mark.at, kind: mark.kind, strings: strings.filter(says), units };
  }
}

const failureListSchema = z.object({ failures: z.array(z.unknown()) });

/** The failed turns of a stored list. What is no list counts as one, and is kept unless it says it: then all of it goes. */
export function failuresIn(value: unknown): readonly unknown[] {
  const list = failureListSchema.safeParse(value);
  return list.success ? list.data.failures : [value];
}

/** Whether a failed turn says it. */
export function failureSays(failure: unknown, says: (text: string) => boolean): boolean {
  return says(stringsOf(failure).join("\n"));
}

async function eraseFailures(
  store: BaseStore,
  owner: string,
  says: (text: string) => boolean,
): Promise<number> {
  let erased = 0;
  for (const { namespace, key, value } of await searchAll(store, explanationsOf(owner))) {
    const failures = failuresIn(value);
    const kept = failures.filter((failure) => !failureSays(failure, says));
    if (kept.length === failures.length) continue;
    erased += failures.length - kept.length;
    if (kept.length === 0) await store.delete(namespace, key);
    else await store.put(namespace, key, { failures: kept }, false);
  }
  return erased;
}

async function eraseChainTexts(
  chains: ChainMethods,
  {
    owner,
    says,
    at,
  }: { readonly owner: string; readonly says: (text: string) => boolean; readonly at: string },
): Promise<number> {
  let erased = 0;
  // A chain that cannot be read is named by verify; there is nothing to be told of its titles.
  for (const chain of await chains.listChains(owner, () => undefined)) {
    const after = erasePartsFromChain(chain, says, at);
    if (after === chain) continue;
    await chains.writeChain(after);
    erased += partsOf(after) - partsOf(chain);
  }
  return erased;
}

function partsOf({ redactions = [] }: Chain): number {
  return redactions.reduce((sum, { parts = [] }) => sum + parts.length, 0);
}
