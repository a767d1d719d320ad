/** Checks that go through the store port, on any backend: seals, chains, the pointers to them, and secrets that are remembered. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { maskSecrets } from "#memory/policy/find-secrets.ts";
import { createSecretlintScanner } from "#memory/policy/secret-scanner.ts";
import { shortId } from "#memory/record.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { decodeLabel } from "#src/kernel/ids.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { deliveryIdsOf } from "#src/sessions/redaction.ts";
import {
  keyRefSchema,
  pointerSchema,
  type DeliveryPointer,
  type SessionRepository,
  type TranscriptRef,
} from "#src/sessions/repository.ts";
import { combineReports, verifyOwner, type VerifyReport } from "#src/sessions/verify.ts";
import {
  getItem,
  itemsUnder,
  namespacesUnder,
  searchAll,
  deliveryNamespace,
  sessionIndexNamespace,
} from "#src/storage/session-items.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { counted, joined } from "#src/kernel/markdown.ts";
import { fine, someOf, warning, wrong, type Check } from "./check.ts";

const FROM_A_BACKUP =
  "Restore a backup if it should be as it was: lily restore <folder>. Conversations go on without.";
const REPAIR = "lily doctor --repair makes them anew from the conversations.";

/** Checks all conversations of all owners. Reads only. */
export async function checkConversations(store: BaseStore): Promise<Check[]> {
  const repository = createStoreSessionRepository(store);
  const chains = await chainsIn(store, repository);
  const pointers = await pointersOf(store, repository, chains);
  return [
    sealsRow(await verifyStore(store)),
    latestRow(chains),
    sessionIndexRow(chains, pointers),
    deliveriesRow(pointers),
    await checkKeptSecrets(store),
  ];
}

/** Verifies every conversation of every owner, also of one whose turns have no chain any more. */
export async function verifyStore(store: BaseStore): Promise<VerifyReport> {
  const repository = createStoreSessionRepository(store);
  const owners = await ownersIn(store);
  const reports: VerifyReport[] = [];
  for (const owner of owners) {
    const report = await verifyOwner(repository, owner);
    const whose = owners.length === 1 ? "" : ` (owner ${owner})`;
    const problems = report.problems.map((found) => ({ ...found, problem: `${found.problem}${whose}` }));
    reports.push({ ...report, problems });
  }
  return combineReports(reports, []);
}

/** Makes the pointers anew that lead to sessions and turns. @returns how many were missing or wrong */
export async function repairPointers(store: BaseStore): Promise<number> {
  const repository = createStoreSessionRepository(store);
  const { lost, missing } = await pointersOf(store, repository, await chainsIn(store, repository));
  for (const { sessionId, chain } of lost)
    await repository.indexSession(sessionId, { owner: chain.owner, sessionKey: chain.sessionKey });
  for (const { id, chain, pointer } of missing) await repository.writeDelivery(chain, id, pointer);
  return lost.length + missing.length;
}

async function ownersIn(store: BaseStore): Promise<string[]> {
  const places = [
    ...(await namespacesUnder(store, ["sessions"])),
    ...(await namespacesUnder(store, ["history"])),
  ];
  return [...new Set(places.map(([, owner = ""]) => decodeLabel(owner)))];
}

/** The chains that can be read; {@link verifyStore} tells of the others. */
async function chainsIn(store: BaseStore, repository: SessionRepository): Promise<Chain[]> {
  const chains: Chain[] = [];
  for (const owner of await ownersIn(store))
    chains.push(...(await repository.listChains(owner, () => undefined)));
  return chains;
}

/** What leads to sessions and turns, by id and by delivery. */
interface Pointers {
  /** Sessions that are not found by their id, or under another key. */
  readonly lost: readonly { readonly sessionId: string; readonly chain: Chain }[];
  readonly deliveries: number;
  /** Deliveries whose pointer leads to nothing. */
  readonly dangling: number;
  /** Deliveries of stored turns without a pointer, with the one that they should have. */
  readonly missing: readonly {
    readonly id: string;
    readonly chain: Chain;
    readonly pointer: DeliveryPointer;
  }[];
}

async function pointersOf(
  store: BaseStore,
  repository: SessionRepository,
  chains: readonly Chain[],
): Promise<Pointers> {
  const sessions = chains.flatMap((chain) => chain.sessions.map(({ sessionId }) => ({ sessionId, chain })));
  const ids = sessions.map(({ sessionId }) => sessionId);
  const indexed = await readableValues(store, sessionIndexNamespace, ids);
  const lost = sessions.filter(({ sessionId, chain }) => {
    const ref = keyRefSchema.safeParse(indexed.get(sessionId)).data;
    return ref?.owner !== chain.owner || ref.sessionKey !== chain.sessionKey;
  });
  let [deliveries, dangling] = [0, 0];
  const missing: Pointers["missing"][number][] = [];
  for (const chain of chains) {
    const turnsOf = new Map<string, number>();
    const wanted = new Map<string, DeliveryPointer>();
    for (const { sessionId, sealed } of chain.sessions) {
      const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId };
      const turns = sealed?.turns ?? (await repository.lastStoredTurn(ref));
      turnsOf.set(sessionId, turns);
      for (const [id, turn] of await answeredIn(repository, ref, turns)) wanted.set(id, { sessionId, turn });
    }
    for (const [id, value] of await readableValues(store, deliveryNamespace(chain), [...wanted.keys()])) {
      deliveries += 1;
      wanted.delete(id);
      const pointer = pointerSchema.safeParse(value).data;
      const turns = pointer === undefined ? undefined : turnsOf.get(pointer.sessionId);
      // Written before the turn: one turn more than there are is what a crash in between leaves, and it is settled later.
      if (turns === undefined || (pointer?.turn ?? 0) > turns + 1) dangling += 1;
    }
    for (const [id, pointer] of wanted) missing.push({ id, chain, pointer });
  }
  return { lost, deliveries, dangling, missing };
}

/** The values of a namespace by their keys; where one is no JSON, which fails a whole search, those of `keys` that are. */
async function readableValues(
  store: BaseStore,
  namespace: string[],
  keys: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const values = new Map<string, unknown>();
  try {
    for (const { key, value } of await searchAll(store, namespace)) values.set(key, value);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    for (const key of keys) {
      const item = await getItem(store, namespace, key).catch(unlessInvalid);
      if (item !== undefined) values.set(key, item.value);
    }
  }
  return values;
}

function unlessInvalid(error: unknown): undefined {
  if (!isLilyError(error) || error.code !== "record_invalid") throw error;
}

async function answeredIn(
  repository: SessionRepository,
  ref: TranscriptRef,
  turns: number,
): Promise<(readonly [deliveryId: string, turn: number])[]> {
  try {
    const stored = await repository.readStoredTurns(ref, { from: 1, to: turns });
    return stored.flatMap((record) => deliveryIdsOf(record).map((id) => [id, record.turn] as const));
  } catch {
    // A record that cannot be read is told of by its seal.
    return [];
  }
}

function sealsRow({ sessions, turns, erased, problems }: VerifyReport): Check {
  const what = `${counted(sessions, "session")} with ${counted(turns, "turn")}`;
  const gone = erased.turns + erased.titles;
  if (problems.length === 0)
    return fine(
      "seals",
      `${what}, all as they were committed${gone === 0 ? "" : `; ${gone} erased on request`}`,
    );
  const texts = problems.map(({ sessionKey, sessionId, ordinal, turn, problem }) => {
    const where = ordinal === 0 ? sessionId : `${sessionKey} session ${ordinal}`;
    return joined([`${where}${turn === null ? "" : ` turn ${turn}`}`, problem], ": ");
  });
  const found = `${counted(problems.length, "problem")} in ${what}: ${someOf(texts)}`;
  return wrong("seals", found, { code: "verify_failed", next: FROM_A_BACKUP });
}

function latestRow(chains: readonly Chain[]): Check {
  const astray = chains.filter((chain) => entryOf(chain, chain.latest) === undefined);
  if (astray.length === 0)
    return fine("latest", `${counted(chains.length, "key")}, each with its latest session`);
  const found = `${someOf(astray.map(({ sessionKey }) => sessionKey))}: latest is no session of the chain`;
  return wrong("latest", found, { code: "record_invalid", next: FROM_A_BACKUP });
}

function sessionIndexRow(chains: readonly Chain[], { lost }: Pointers): Check {
  const total = chains.reduce((sum, { sessions }) => sum + sessions.length, 0);
  if (lost.length === 0) return fine("session index", `${counted(total, "session")} found by id`);
  const names = someOf(lost.map(({ sessionId }) => sessionId));
  const found = `${counted(lost.length, "session")} not found by id, or under another key: ${names}`;
  return wrong("session index", found, { code: "record_invalid", next: REPAIR });
}

function deliveriesRow({ deliveries, dangling, missing }: Pointers): Check {
  if (missing.length > 0) {
    const found = `${missing.length} of the turns that are stored cannot be found by their delivery`;
    return warning("deliveries", found, REPAIR);
  }
  const all = counted(deliveries, "delivery pointer");
  if (dangling === 0) return fine("deliveries", `${all}, all to something`);
  return warning(
    "deliveries",
    `${dangling} of ${all} lead to nothing`,
    "A repeated delivery of these is answered anew; lily verify tells whether turns are missing.",
  );
}

const factSchema = z.object({ id: z.string(), text: z.string() });

/**
 * Looks at each fact of every owner, also those that wait for a review, for secrets that an earlier version took. Names them by
 * their ids, never by what they say.
 */
export async function checkKeptSecrets(store: BaseStore): Promise<Check> {
  const scan = createSecretlintScanner();
  const found: string[] = [];
  let facts = 0;
  for await (const { value } of itemsUnder(store, ["memory"])) {
    const fact = factSchema.safeParse(value).data;
    if (fact === undefined) continue;
    facts += 1;
    if ((await maskSecrets(fact.text, scan)) !== fact.text) found.push(shortId(fact.id));
  }
  if (found.length === 0) return fine("remembered secrets", `none in ${counted(facts, "fact")}`);
  return warning(
    "remembered secrets",
    `${counted(found.length, "fact")} ${found.length === 1 ? "holds" : "hold"} what looks like a secret, which is masked wherever it is shown: ${someOf(found)}`,
    "/forget <id> --everywhere erases one.",
  );
}
