/** Checks of conversations that go through the store port, on any backend: seals, chains, and the pointers to them. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { isLilyError } from "#src/kernel/errors.ts";
import { decodeLabel } from "#src/kernel/ids.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { deliveryIdsOf } from "#src/sessions/redaction.ts";
import {
  keyRefSchema,
  pointerSchema,
  type DeliveryPointer,
  type KeyRef,
  type SessionRepository,
  type TranscriptRef,
} from "#src/sessions/repository.ts";
import { combineReports, verifyOwner, type VerifyProblem, type VerifyReport } from "#src/sessions/verify.ts";
import { getItem, namespacesUnder, readableItems, searchAll } from "#src/storage/session-items.ts";
import {
  chainsOf,
  deliveryNamespace,
  sessionIndexNamespace,
  transcriptsOf,
} from "#src/storage/session-namespaces.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { counted, joined } from "#src/kernel/markdown.ts";
import { fine, someOf, warning, wrong, type Check } from "./check.ts";
import { checkKeptSecrets } from "./kept-secrets.ts";

const FROM_A_BACKUP =
  "Restore a backup if it should be as it was: lily restore <folder>. Conversations go on without.";
const REPAIR = "lily doctor --repair makes them anew from the conversations.";

/** Checks all conversations of all owners. Reads only. */
export async function checkConversations(store: BaseStore): Promise<Check[]> {
  const repository = createStoreSessionRepository(store);
  const chains = await chainsIn(store, repository);
  return [
    sealsRow(await verifyStore(store)),
    latestRow(chains),
    sessionIndexRow(chains, await lostSessions(store, chains)),
    await deliveriesRow(store, repository, chains),
    await checkKeptSecrets(store),
  ];
}

/** Verifies every conversation of every owner, and finds what belongs to no owner. */
export async function verifyStore(store: BaseStore): Promise<VerifyReport> {
  const repository = createStoreSessionRepository(store);
  const { owners, strays } = await ownersIn(store);
  const known = new Set(owners.map((owner) => transcriptsOf(owner)[1]));
  for (const namespace of await namespacesUnder(store, ["history"]))
    if (!known.has(namespace[1]))
      strays.add(`${namespace.join("/")}: its turns are stored, but its owner has no chain`);
  const problems = [...strays].map((problem): VerifyProblem => ({
    sessionKey: "",
    sessionId: "",
    ordinal: 0,
    turn: null,
    problem,
  }));
  const reports: VerifyReport[] = [];
  for (const owner of owners) {
    const report = await verifyOwner(repository, owner);
    const whose = owners.length === 1 ? "" : ` (owner ${owner})`;
    reports.push({
      ...report,
      problems: report.problems.map((found) => ({ ...found, problem: `${found.problem}${whose}` })),
    });
  }
  return combineReports(reports, problems);
}

/** Makes the pointers anew that lead to sessions and turns. @returns how many were missing or wrong */
export async function repairPointers(store: BaseStore): Promise<number> {
  const repository = createStoreSessionRepository(store);
  const chains = await chainsIn(store, repository);
  const lost = await lostSessions(store, chains);
  for (const { sessionId, chain } of lost)
    await repository.indexSession(sessionId, { owner: chain.owner, sessionKey: chain.sessionKey });
  let written = lost.length;
  for (const chain of chains) {
    for (const [id, pointer] of (await deliveriesOf(store, repository, chain)).missing) {
      await repository.writeDelivery(chain, id, pointer);
      written += 1;
    }
  }
  return written;
}

const ownedSchema = z.object({ owner: z.string() });

async function ownersIn(store: BaseStore): Promise<{ owners: string[]; strays: Set<string> }> {
  const owners = new Set<string>();
  const strays = new Set<string>();
  // Of a chain that cannot be read, its place says whose it is.
  const damaged = ([, owner = ""]: string[]): void => void owners.add(decodeLabel(owner));
  const chains = await readableItems(store, { prefix: ["sessions"], key: "chain" }, damaged);
  for (const { value, namespace } of chains) {
    const owned = ownedSchema.safeParse(value);
    if (owned.success && chainsOf(owned.data.owner)[1] === namespace[1]) owners.add(owned.data.owner);
    else strays.add(`${namespace.join("/")}: it does not say whose chain it is`);
  }
  return { owners: [...owners], strays };
}

/** The chains that can be read; {@link verifyStore} tells of the others. */
async function chainsIn(store: BaseStore, repository: SessionRepository): Promise<Chain[]> {
  const chains: Chain[] = [];
  for (const owner of (await ownersIn(store)).owners)
    chains.push(...(await repository.listChains(owner, () => undefined)));
  return chains;
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
  const keys = someOf(astray.map(({ sessionKey }) => sessionKey));
  return wrong("latest", `${keys}: latest is no session of the chain`, {
    code: "record_invalid",
    next: FROM_A_BACKUP,
  });
}

/** Sessions that are not found by their id, or under another key. */
async function lostSessions(
  store: BaseStore,
  chains: readonly Chain[],
): Promise<{ readonly sessionId: string; readonly chain: Chain }[]> {
  const indexed = new Map<string, KeyRef | undefined>();
  const ids = chains.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId));
  for (const [key, value] of await pointersIn(store, sessionIndexNamespace, ids))
    indexed.set(key, keyRefSchema.safeParse(value).data);
  return chains.flatMap((chain) =>
    chain.sessions
      .map(({ sessionId }) => ({ sessionId, chain }))
      .filter(({ sessionId }) => {
        const ref = indexed.get(sessionId);
        return ref?.owner !== chain.owner || ref.sessionKey !== chain.sessionKey;
      }),
  );
}

function sessionIndexRow(chains: readonly Chain[], lost: Awaited<ReturnType<typeof lostSessions>>): Check {
  const total = chains.reduce((sum, { sessions }) => sum + sessions.length, 0);
  if (lost.length === 0) return fine("session index", `${counted(total, "session")} found by id`);
  const names = someOf(lost.map(({ sessionId }) => sessionId));
  const found = `${counted(lost.length, "session")} not found by id, or under another key: ${names}`;
  return wrong("session index", found, { code: "record_invalid", next: REPAIR });
}

/** The pointers from deliveries of a key to its turns. */
interface Deliveries {
  readonly total: number;
  /** Pointers that lead to nothing. */
  readonly dangling: number;
  /** Deliveries of stored turns without a pointer, with the one they should have. */
  readonly missing: ReadonlyMap<string, DeliveryPointer>;
}

async function deliveriesOf(
  store: BaseStore,
  repository: SessionRepository,
  chain: Chain,
): Promise<Deliveries> {
  const turnsOf = new Map<string, number>();
  const missing = new Map<string, DeliveryPointer>();
  for (const { sessionId, sealed } of chain.sessions) {
    const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId };
    const turns = sealed?.turns ?? (await repository.lastStoredTurn(ref));
    turnsOf.set(sessionId, turns);
    for (const [id, turn] of await answeredIn(repository, ref, turns)) missing.set(id, { sessionId, turn });
  }
  let [total, dangling] = [0, 0];
  for (const [key, value] of await pointersIn(store, deliveryNamespace(chain), [...missing.keys()])) {
    total += 1;
    missing.delete(key);
    const pointer = pointerSchema.safeParse(value).data;
    const turns = pointer === undefined ? undefined : turnsOf.get(pointer.sessionId);
    // Written before the turn: one turn more than there are is what a crash in between leaves, and it is settled later.
    if (turns === undefined || (pointer?.turn ?? 0) > turns + 1) dangling += 1;
  }
  return { total, dangling, missing };
}

/** The items of a namespace; where one cannot be read, which fails a whole search, those of `keys` that can. */
async function pointersIn(
  store: BaseStore,
  namespace: string[],
  keys: readonly string[],
): Promise<Map<string, unknown>> {
  try {
    return new Map((await searchAll(store, namespace)).map(({ key, value }) => [key, value]));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const found = new Map<string, unknown>();
  for (const key of keys) {
    const item = await getItem(store, namespace, key).catch(unlessInvalid);
    if (item !== undefined) found.set(key, item.value);
  }
  return found;
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

async function deliveriesRow(
  store: BaseStore,
  repository: SessionRepository,
  chains: readonly Chain[],
): Promise<Check> {
  let [total, dangling, missing] = [0, 0, 0];
  for (const chain of chains) {
    const found = await deliveriesOf(store, repository, chain);
    total += found.total;
    dangling += found.dangling;
    missing += found.missing.size;
  }
  if (missing > 0)
    return warning(
      "deliveries",
      `${missing} of the turns that are stored cannot be found by their delivery`,
      REPAIR,
    );
  if (dangling === 0) return fine("deliveries", `${counted(total, "delivery pointer")}, all to something`);
  return warning(
    "deliveries",
    `${dangling} of ${counted(total, "delivery pointer")} lead to nothing`,
    "A repeated delivery of these is answered anew; lily verify tells whether turns are missing.",
  );
}
