/** An archive for tests: three sessions of one key, the last of them open, and ways past the repository to what is stored. */
import { createManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { chainNamespace, historyNamespace, turnItemKey } from "#src/storage/session-items.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { openChain, rotateChain, type Chain } from "../chain.ts";
import { erasePartsFromChain } from "../redaction.ts";
import { EMPTY_HEAD, linkTurn, textHashOf } from "../seal.ts";
import type { TurnBody, TurnRecord } from "../turn-record.ts";
import { verifyOwner, type VerifyReport } from "../verify.ts";

export const AT = "2026-03-01T09:00:00.000Z";
export const LATER = "2026-04-01T09:00:00.000Z";
export const KEY = { owner: "local", sessionKey: "cli:main" };
export const IDS = ["s1", "s2", "s3"] as const;
const TURNS = [4, 3, 3] as const;

/** Each turn of the archive. */
export const NUMBERS = TURNS.flatMap((turns, index) =>
  Array.from({ length: turns }, (_, turn) => ({ sessionId: `s${index + 1}`, turn: turn + 1 })),
);

/** A turn with every optional part that a turn can have. */
export function fullBody(sessionId: string, turn: number): TurnBody {
  const text = `text ${turn} of ${sessionId}`;
  return {
    v: 1,
    sessionId,
    turn,
    kind: "chat",
    status: "completed",
    deliveryId: `d-${sessionId}-${turn}`,
    textHash: textHashOf(text),
    at: AT,
    messages: [
      { role: "user", content: text, timestamp: AT },
      { role: "assistant", content: "", toolCalls: [{ id: "c", name: "n", arguments: "{}" }], timestamp: AT },
      { role: "tool", content: "found", toolCallId: "c", timestamp: AT },
      { role: "assistant", content: `answer ${turn}`, timestamp: AT },
    ],
    units: [{ role: "Fact", topic: "t", claim: "c" }],
    reply: {
      announcement: "a",
      notice: "n",
      envelope: { ok: true, code: "x", message: "m", next: "n", data: { deep: [{ list: [1, null] }] } },
    },
    explanation: {
      requestId: "r",
      solver: "symbolic",
      verdict: { action: "stay", reason: "withinWindow", idleMs: 5, dueAt: AT },
      receipt: { budgetTokens: 10, tokens: { system: 3 }, turns: [{ sessionId, from: 1, to: 2 }] },
      recalled: [{ sessionId: "s0", turn: 1, at: AT, score: 0.5, rationale: "why" }],
    },
  };
}

/** The turns of a session, each linked to the one before it. */
function transcriptOf(sessionId: string, turns: number): TurnRecord[] {
  const records: TurnRecord[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const head = records.at(-1)?.head ?? EMPTY_HEAD;
    records.push(linkTurn(fullBody(sessionId, turn), { head, salt: `salt-${turn}` }));
  }
  return records;
}

/** @param salted whether seals cover what can be erased by salted hashes, as they do since there is erasing */
function chainOf(transcripts: readonly TurnRecord[][], salted: boolean): Chain {
  let salts = 0;
  const opened = (index: number) => ({
    sessionId: IDS[index] ?? "",
    at: AT,
    deliveryId: `d-s${index + 1}-1`,
    textHash: transcripts[index]?.[0]?.textHash ?? "",
  });
  return [1, 2].reduce(
    (chain, index) =>
      rotateChain(chain, {
        ...opened(index),
        verdict: { action: "rotate", trigger: "idle", idleMs: 2, limitMs: 1, dueAt: AT },
        turns: TURNS[index - 1] ?? 0,
        head: transcripts[index - 1]?.at(-1)?.head ?? "",
        carried: {
          activeAgent: "lily",
          model: null,
          rollover: { idle: { limit: 5_000 } },
          task: `task ${index}`,
          toldNoModel: false,
        },
        title: `title ${index}`,
        continues: [IDS[index - 1] ?? ""],
        ...(salted ? { salt: () => `salt ${(salts += 1)}` } : {}),
      }),
    openChain({ ...KEY, ...opened(0) }),
  );
}

/** Makes the archive, once for all tests of a file: `reset` puts it back as it was. */
export async function openArchive() {
  const { store } = createMemoryBackend({ clock: createManualClock(Date.parse(AT)) });
  const repository = createStoreSessionRepository(store);
  const transcripts = IDS.map((id, index) => transcriptOf(id, TURNS[index] ?? 0));
  const chains = { plain: chainOf(transcripts, false), salted: chainOf(transcripts, true) };
  const namespace = (sessionId: string) => historyNamespace({ ...KEY, sessionId });
  const placeOf = (sessionId: string, turn: number) => `${sessionId}/${turn}`;
  const turns = new Map(transcripts.flat().map((one) => [placeOf(one.sessionId, one.turn), one]));
  const changed = new Map<string, readonly [sessionId: string, turn: number]>();
  for (const record of turns.values()) await repository.writeTurn({ ...KEY, ...record }, record);

  const putChain = (value: object) => store.put(chainNamespace(KEY), "chain", { ...value }, false);
  const putTurn = async (sessionId: string, turn: number, value: object | null) => {
    changed.set(placeOf(sessionId, turn), [sessionId, turn]);
    if (value === null) await store.delete(namespace(sessionId), turnItemKey(turn));
    else await store.put(namespace(sessionId), turnItemKey(turn), { ...value }, false);
  };
  const chain = async () => (await repository.readChain(KEY)) as Chain;
  return {
    store,
    repository,
    chain,
    putChain,
    putTurn,
    /** The turn as it was committed. */
    turn: (sessionId: string, turn: number) => turns.get(placeOf(sessionId, turn)) as TurnRecord,
    /** What is stored of it now. */
    item: async (sessionId: string, turn: number) =>
      (await store.get(namespace(sessionId), turnItemKey(turn)))?.value,
    verify: () => verifyOwner(repository, KEY.owner),
    erase: (places: readonly { sessionId: string; turn: number }[], at = LATER) => {
      for (const { sessionId, turn } of places) changed.set(placeOf(sessionId, turn), [sessionId, turn]);
      return repository.redactTurns(KEY, places, at);
    },
    eraseParts: async (says: (text: string) => boolean) =>
      repository.writeChain(erasePartsFromChain(await chain(), says, LATER)),
    /** All as it was committed. @returns the chain */
    reset: async (seals: "plain" | "salted" = "plain") => {
      for (const [place, [sessionId, turn]] of changed)
        await putTurn(sessionId, turn, turns.get(place) ?? null);
      changed.clear();
      await putChain(chains[seals]);
      return chains[seals];
    },
  };
}

/** Session and turn of each problem, once. */
export const turnsNamed = (report: VerifyReport): string[] => [
  ...new Set(report.problems.map(({ sessionId, turn }) => `${sessionId}/${turn ?? "-"}`)),
];

/** Each problem with its place. */
export const problemsOf = ({ problems }: VerifyReport): string[] =>
  problems.map(({ sessionId, turn, problem }) => `${sessionId}/${turn ?? "-"} ${problem}`);

export type Path = readonly string[];

/** Every path of `value` that ends in something that is neither a list nor an object. */
export function leafPaths(value: unknown, before: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [before];
  return Object.entries(value).flatMap(([key, item]) => leafPaths(item, [...before, key]));
}

/** A copy with another value of the same type at `path`. */
export function changedAt<T>(value: T, path: Path): T {
  const copy = structuredClone(value);
  let parent = copy as Record<string, unknown>;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  const last = path.at(-1) ?? "";
  parent[last] = altered(parent[last]);
  return copy;
}

function altered(leaf: unknown): unknown {
  if (typeof leaf === "string") return `${leaf}x`;
  if (typeof leaf === "number") return leaf + 1;
  return leaf === null ? "x" : leaf !== true;
}
