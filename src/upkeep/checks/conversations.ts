/** Checks of conversations that go through the store port: seals, chains, the session index, deliveries. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import type { Chain } from "#src/sessions/chain.ts";
import type { DamagedItem, SessionRepository } from "#src/sessions/repository.ts";
import { verifyOwner, type VerifyReport } from "#src/sessions/verify.ts";
import {
  chainsOf,
  deliveryNamespace,
  sessionIndexNamespace,
  transcriptsOf,
} from "#src/storage/session-namespaces.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { counted, fine, someOf, warning, wrong, type Check } from "../check.ts";
import { itemsUnder } from "../read-items.ts";

/** Everything that the checks look at, read once. */
interface Conversations {
  readonly store: BaseStore;
  readonly repository: SessionRepository;
  readonly owners: readonly string[];
  readonly chains: readonly Chain[];
  readonly damaged: readonly DamagedItem[];
}

const FROM_A_BACKUP =
  "Restore a backup if it should be as it was: lily restore <folder>. Conversations go on without.";

/** Checks all conversations of all owners. Reads only. */
export async function checkConversations(store: BaseStore): Promise<Check[]> {
  const conversations = await readConversations(store);
  return [
    await checkSeals(conversations),
    checkLatest(conversations),
    await checkSessionIndex(conversations),
    await checkDeliveries(conversations),
  ];
}

const ownedSchema = z.object({ owner: z.string() });

async function readConversations(store: BaseStore): Promise<Conversations> {
  const repository = createStoreSessionRepository(store);
  const owners = new Set<string>();
  const damaged: DamagedItem[] = [];
  for await (const { value, namespace } of itemsUnder(store, ["sessions"])) {
    const owned = ownedSchema.safeParse(value);
    const isListed = owned.success && chainsOf(owned.data.owner)[1] === namespace[1];
    if (isListed) owners.add(owned.data.owner);
    else damaged.push({ where: namespace.join("/"), problem: "it does not say whose chain it is" });
  }
  const chains: Chain[] = [];
  for (const owner of owners) {
    chains.push(...(await repository.listChains(owner, (item) => void damaged.push(item))));
  }
  return { store, repository, owners: [...owners], chains, damaged };
}

async function checkSeals({ store, repository, owners, damaged }: Conversations): Promise<Check> {
  const reports: VerifyReport[] = [];
  for (const owner of owners) reports.push(await verifyOwner(repository, owner));
  const problems = reports.flatMap((report) => report.problems).map(problemText);
  const unowned = damaged
    .filter(({ where }) => !problems.some((problem) => problem.includes(where)))
    .map(({ where, problem }) => `${where}: ${problem}`);
  const lost = await transcriptsOfNobody(store, owners);
  const all = [...problems, ...unowned, ...lost];
  const sum = (count: (report: VerifyReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  const what = `${counted(
    sum((report) => report.sessions),
    "session",
  )} with ${counted(
    sum((report) => report.turns),
    "turn",
  )}`;
  const erased = sum((report) => report.erased.turns + report.erased.titles);
  const rest = erased === 0 ? "" : `; ${erased} erased on request`;
  if (all.length === 0) return fine("seals", `${what}, all as they were committed${rest}`);
  const found = `${counted(all.length, "problem")} in ${what}: ${someOf(all)}`;
  return wrong("seals", found, { code: "verify_failed", next: FROM_A_BACKUP });
}

function problemText({
  sessionKey,
  sessionId,
  ordinal,
  turn,
  problem,
}: VerifyReport["problems"][number]): string {
  const where = ordinal === 0 ? sessionId : `${sessionKey} session ${ordinal}`;
  return `${where}${turn === null ? "" : ` turn ${turn}`}: ${problem}`;
}

/** Transcripts whose owner has no chain at all; those of the others are found when their owner is verified. */
async function transcriptsOfNobody(store: BaseStore, owners: readonly string[]): Promise<string[]> {
  const known = new Set(owners.map((owner) => transcriptsOf(owner)[1]));
  const lost = new Set<string>();
  for await (const { namespace } of itemsUnder(store, ["history"])) {
    if (!known.has(namespace[1])) lost.add(namespace.join("/"));
  }
  return [...lost].map((where) => `${where}: its turns are stored, but its owner has no chain`);
}

function checkLatest({ chains }: Conversations): Check {
  const wrongKeys = chains
    .filter(({ latest, sessions }) => sessions.filter(({ sessionId }) => sessionId === latest).length !== 1)
    .map(({ sessionKey }) => sessionKey);
  const keys = counted(chains.length, "key");
  if (wrongKeys.length === 0) return fine("latest", `${keys}, each with one latest session`);
  const found = `${someOf(wrongKeys)}: latest is not exactly one session of the chain`;
  return wrong("latest", found, { code: "record_invalid", next: FROM_A_BACKUP });
}

const refSchema = z.object({ owner: z.string(), sessionKey: z.string() });

async function checkSessionIndex({ store, chains }: Conversations): Promise<Check> {
  const stored = new Map<string, string>();
  for await (const { key, value } of itemsUnder(store, sessionIndexNamespace)) {
    const ref = refSchema.safeParse(value);
    stored.set(key, ref.success ? placeOf(ref.data) : "");
  }
  const sessions = chains.flatMap((chain) =>
    chain.sessions.map(({ sessionId }) => ({ sessionId, place: placeOf(chain) })),
  );
  const astray = sessions.filter(({ sessionId, place }) => stored.get(sessionId) !== place);
  if (astray.length > 0) {
    const names = someOf(astray.map(({ sessionId }) => sessionId));
    const found = `${counted(astray.length, "session")} not found by id, or under another key: ${names}`;
    return wrong("session index", found, { code: "record_invalid", next: FROM_A_BACKUP });
  }
  const unused = stored.size - new Set(sessions.map(({ sessionId }) => sessionId)).size;
  // The index is written before the chain: a crash in between leaves an entry that nothing reads.
  const rest = unused === 0 ? "" : `; ${unused} of sessions that were never opened, which does no harm`;
  return fine("session index", `${counted(sessions.length, "session")} found by id${rest}`);
}

function placeOf({ owner, sessionKey }: z.infer<typeof refSchema>): string {
  return JSON.stringify([owner, sessionKey]);
}

const pointerSchema = z.object({ sessionId: z.string(), turn: z.int().nullable() });

async function checkDeliveries({ store, repository, chains }: Conversations): Promise<Check> {
  let total = 0;
  let dangling = 0;
  for (const chain of chains) {
    const turnsOf = await countTurns(repository, chain);
    for await (const { value } of itemsUnder(store, deliveryNamespace(chain))) {
      total += 1;
      const pointer = pointerSchema.safeParse(value);
      const turns = pointer.success ? turnsOf.get(pointer.data.sessionId) : undefined;
      // Written before the turn: one turn more than there are is what a crash in between leaves, and it is settled later.
      if (turns === undefined || (pointer.data?.turn ?? 0) > turns + 1) dangling += 1;
    }
  }
  if (dangling === 0) return fine("deliveries", `${counted(total, "delivery pointer")}, all to something`);
  return warning(
    "deliveries",
    `${dangling} of ${counted(total, "delivery pointer")} lead to nothing`,
    "A repeated delivery of these is answered anew; lily verify tells whether turns are missing.",
  );
}

async function countTurns(repository: SessionRepository, chain: Chain): Promise<Map<string, number>> {
  const turns = new Map<string, number>();
  for (const { sessionId, sealed } of chain.sessions) {
    const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId };
    turns.set(sessionId, sealed?.turns ?? (await repository.lastStoredTurn(ref)));
  }
  return turns;
}
