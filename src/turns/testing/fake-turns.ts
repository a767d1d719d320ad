/** `runTurn` over a runner that answers at once and keeps what it answered, for tests of what comes before the graph. */
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { Arrivals, arrivalPolicySchema, type ArrivalPolicy } from "../arrivals.ts";
import type { GraphRun } from "../runner.ts";
import { runTurn, type RunTurnDeps, type TurnRequest } from "../run-turn.ts";
import { StopRegistry } from "../stop.ts";
import { replyOf, type TurnReply } from "../turn-reply.ts";
import { createFakeTimer, type FakeTimer } from "./fake-timer.ts";

/** Turns under test. */
export interface FakeTurns {
  readonly deps: RunTurnDeps;
  readonly timer: FakeTimer;
  /** What was run, with the time at which it began. */
  readonly runs: { readonly at: number; readonly content: unknown; readonly ids: readonly string[] }[];
  send(content: string, deliveryId: string, request?: Partial<TurnRequest>): Promise<TurnReply>;
}

export interface FakeOptions {
  readonly arrivals: Partial<ArrivalPolicy>;
  /** Before the run is answered; what it throws, the run throws. */
  readonly during?: (run: GraphRun) => Promise<void>;
  readonly adjust?: (deps: RunTurnDeps) => RunTurnDeps;
}

/** Makes them, on one key. */
export function createFakeTurns({ arrivals, during, adjust }: FakeOptions): FakeTurns {
  const timer = createFakeTimer();
  const runs: FakeTurns["runs"] = [];
  const records: TurnRecord[] = [];
  const base: RunTurnDeps = {
    ids: createSequentialIds(),
    runner: {
      async run(run) {
        const others = run.fence?.collected?.others ?? [];
        const ids = [run.message.id, ...others.map(({ deliveryId }) => deliveryId)];
        runs.push({ at: timer.now(), content: run.message.content, ids });
        await during?.(run);
        const record = recordOf(run, records.length + 1);
        records.push(record);
        return { kind: "reply", reply: replyOf(record, false) };
      },
      readSession: async () => undefined,
    },
    repository: repositoryOf(records),
    locks: createMemoryBackend({ clock: createManualClock(0) }).locks,
    store: new InMemoryStore(),
    stops: new StopRegistry(),
    readCommand: async () => Promise.reject(new Error("nothing is read here")),
    messageCharacters: 100,
    botNames: ["lily"],
    lockWaitMs: 60_000,
    lifecycleMode: "segmented",
    arrivals: new Arrivals(() => arrivalPolicySchema.parse(arrivals)),
  };
  const deps = adjust?.(base) ?? base;
  return {
    deps,
    timer,
    runs,
    send: (content, deliveryId, request = {}) =>
      runTurn(deps, { owner: "local", sessionKey: "k", content, deliveryId, ...request }),
  };
}

function recordOf({ message, fence }: GraphRun, turn: number): TurnRecord {
  const content = String(message.content);
  const at = "2026-03-01T09:00:00.000Z";
  const collected = fence?.collected;
  return {
    v: 1,
    sessionId: "s",
    turn,
    kind: "chat",
    status: "completed",
    deliveryId: message.id,
    textHash: collected?.textHash ?? textHashOf(content),
    ...(collected === undefined ? {} : { collected: collected.others }),
    at,
    messages: [
      { role: "user", content, timestamp: at },
      { role: "assistant", content: `re: ${content}`, timestamp: at },
    ],
    reply: {},
    explanation: { requestId: "r" },
    salt: "",
    leaf: "",
    head: "",
  };
}

function repositoryOf(records: readonly TurnRecord[]): SessionRepository {
  const isOf = (record: TurnRecord, id: string): boolean =>
    [record, ...(record.collected ?? [])].some(({ deliveryId }) => deliveryId === id);
  const used: Partial<SessionRepository> = {
    readChain: async () => undefined,
    async readDelivery(_ref, id) {
      const record = records.find((candidate) => isOf(candidate, id));
      return record === undefined ? undefined : { sessionId: "s", turn: record.turn };
    },
    readTurn: async (_ref, turn) => records[turn - 1],
    readStoredTurn: async (_ref, turn) => records[turn - 1],
  };
  return used as SessionRepository;
}
