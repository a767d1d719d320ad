import { inspect } from "node:util";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { emptyCheckpoint, type BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  openTestPool,
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "#memory/stores/postgres/testing/start-postgres.ts";
import { createFactStore } from "#memory/facts/fact-store.ts";
import { erase } from "#src/erasure/erase.ts";
import { createManualClock, type Clock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { openChain } from "#src/sessions/chain.ts";
import type { FailedTurn, KeyRef } from "#src/sessions/repository.ts";
import type { Lease, StorageBackend } from "../backend.ts";
import { describeBackendContract } from "../testing/backend-contract.ts";
import { countingGraph } from "../testing/counting-graph.ts";
import { createStoreSessionRepository } from "../store-session-repository.ts";
import { startWorker } from "../testing/start-worker.ts";
import { openPostgresBackend, type PostgresBackendOptions } from "./postgres-backend.ts";

const START = Date.parse("2026-03-01T09:00:00.000Z");
const missing = whyNoPostgres();

let server: PostgresServer;
let address: string;
/** Connections of the test itself. */
let direct: Pool;
let seed = 0;
let schemas = 0;
const opened: StorageBackend[] = [];
/** On the shared tables, for tests that need no other: as two processes have them. To open one takes longer than most tests. */
let backend: StorageBackend;
let other: StorageBackend;

/** Made once, and emptied for each test: to make the tables takes the server longer than most tests. */
const SHARED = "lily shared";

function make(options: Partial<PostgresBackendOptions> = {}): Promise<StorageBackend> {
  const clock: Clock = createManualClock(START);
  const ids = createSequentialIds((seed += 1));
  return openPostgresBackend({ connection: address, schema: SHARED, clock, ids, ...options });
}

/** Opens a backend that is closed when the test is over, on the shared tables unless a schema is named. */
async function open(options: Partial<PostgresBackendOptions> = {}): Promise<StorageBackend> {
  const made = await make(options);
  opened.push(made);
  return made;
}

/** Takes a lock until the test is over, or before. */
async function take({ locks }: StorageBackend, name: string, waitMs = 30_000): Promise<Lease> {
  const lease = await locks.acquire(name, { waitMs });
  onTestFinished(() => lease.release());
  return lease;
}

async function emptyShared(): Promise<void> {
  const tables = [
    "lily_items",
    "lily_namespaces",
    "lily_leases",
    "checkpoints",
    "checkpoint_blobs",
    "checkpoint_writes",
  ];
  await query(tables.map((table) => `DELETE FROM "${SHARED}".${table}`).join(";"));
}

const newSchema = (): string => `lily ${(schemas += 1)}`;

async function query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await direct.query<Row>(sql, values)).rows;
}

describe.skipIf(missing !== undefined)(`PostgreSQL${missing ? ` (${missing})` : ""}`, () => {
  beforeAll(async () => {
    server = await startPostgres();
    address = await server.createDatabase();
    direct = openTestPool(address);
    [backend, other] = [await make(), await make()];
  });
  beforeEach(emptyShared);
  afterAll(async () => {
    await Promise.all([backend.close(), other.close()]);
    await direct.end();
    await server.stop();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });

  // One for all tests of the contract: to open it takes longer than they do.
  describeBackendContract("postgres", () => ({ ...backend, close: async () => {} }));
  describe("opening", () => {
    describeOpening();
  });
  describe("locks", () => {
    describeLocks();
  });
  describe("fencing", () => {
    describeFencing();
  });
  describe("checkpoints", () => {
    describeCheckpoints();
  });
  describe("sessions", () => {
    describeSessions();
  });
  describe("erasing", () => {
    describeErasing();
  });
});

function describeOpening(): void {
  it("sets up one schema for four that open it at once", async () => {
    const schema = newSchema();
    const backends = await Promise.all([1, 2, 3, 4].map(() => open({ schema })));
    await Promise.all(backends.map(({ store }, n) => store.put(["n"], `k${n}`, {})));
    expect(await backends[0]?.store.search(["n"])).toHaveLength(4);
    await countingGraph(backends[1]!.checkpointer).run("t", 1);
    expect(await countingGraph(backends[2]!.checkpointer).stateOf("t")).toEqual({ total: 2 });
  });

  it("keeps what was written when it is opened again, and schemas apart", async () => {
    const schema = newSchema();
    const first = await open({ schema });
    await first.store.put(["n"], "k", { n: 1 });
    await first.close();
    expect((await (await open({ schema })).store.get(["n"], "k"))?.value).toEqual({ n: 1 });
    expect(await (await open({ schema: newSchema() })).store.get(["n"], "k")).toBeNull();
  });

  it("says where it is, without the password", async () => {
    const { name, location } = backend;
    const { host, pathname } = new URL(address);
    expect([name, location]).toEqual(["postgres", `${host}${pathname}`]);
  });

  it.each([
    ["a server that does not run", "storage_unreachable", (url: URL) => (url.port = "1")],
    ["a wrong password", "storage_failed", (url: URL) => (url.password = "guessed")],
    ["an unknown database", "storage_failed", (url: URL) => (url.pathname = "/nope")],
    ["an address of another kind", "config_invalid", (url: URL) => (url.protocol = "mysql:")],
  ])("refuses %s without telling the password", async (_what, code, change) => {
    const url = new URL(address);
    change(url);
    const failure = await open({ connection: url.href }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code });
    expect(inspect(failure, { depth: 9 })).not.toContain(url.password);
  });

  it("goes on after the server has ended its idle connections", async () => {
    const schema = newSchema();
    const { store } = await open({ schema });
    await store.put(["n"], "k", { n: 1 });
    await query(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'lily'",
    );
    const read = () => store.get(["n"], "k").catch(() => undefined);
    // A connection that was taken from the pool before it knew fails once.
    expect(((await read()) ?? (await read()))?.value).toEqual({ n: 1 });
  });
}

const whenAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason));
  });

/** Ends the connections on which locks are held, as an administrator or a broken network does. */
const endLockConnections = (): Promise<unknown> =>
  query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lily locks'");

function describeLocks(): void {
  it("exclude another backend until they are given back, with tokens that grow across both", async () => {
    const [one, two] = [backend, other];
    const held = await one.locks.acquire("k");
    await expect(two.locks.acquire("k", { waitMs: 60 })).rejects.toMatchObject({ code: "lease_timeout" });
    const waiting = two.locks.acquire("k");
    await held.release();
    const next = await waiting;
    expect([held.token, next.token]).toEqual([1, 2]);
    await next.release();
  });

  it("lose no update of a counter that two backends change under them", async () => {
    const backends = [backend, other];
    const count = async ({ locks, store, fencedStore }: StorageBackend): Promise<void> => {
      for (let round = 0; round < 4; round += 1) {
        const lease = await locks.acquire("counter");
        const n = Number((await store.get(["counters"], "n"))?.value["n"] ?? 0);
        await fencedStore(lease).put(["counters"], "n", { n: n + 1 });
        await lease.release();
      }
    };
    await Promise.all([...backends, ...backends].map(count));
    expect((await backend.store.get(["counters"], "n"))?.value).toEqual({ n: 16 });
  });

  it("are free at once when the process of their holder is killed", async () => {
    const { locks } = backend;
    const worker = startWorker(new URL("testing/lock-worker.ts", import.meta.url), address, SHARED);
    try {
      expect(await worker.nextLine()).toBe("held");
      await expect(locks.acquire("counter", { waitMs: 60 })).rejects.toMatchObject({ code: "lease_timeout" });
      await worker.kill();
      expect((await take(backend, "counter")).token).toBe(2);
    } finally {
      await worker.kill();
    }
  });

  it("are free for others when their holder has lost its connection, and can be taken again", async () => {
    const [one, two] = [backend, other];
    const a = await one.locks.acquire("a");
    await endLockConnections();
    const taken = await two.locks.acquire("a", { waitMs: 30_000 });
    await expect(one.fencedStore(a).put(["n"], "k", {})).rejects.toMatchObject({ code: "lease_lost" });
    await a.release();
    await expect(one.locks.acquire("a", { waitMs: 60 })).rejects.toMatchObject({ code: "lease_timeout" });
    await taken.release();
    expect((await take(one, "a")).token).toBe(3);
  });

  it("are taken from a holder that has not renewed them in time", async () => {
    const [one, two] = [backend, other];
    const stalled = await take(one, "k");
    await expect(two.locks.acquire("k", { waitMs: 150 })).rejects.toMatchObject({ code: "lease_timeout" });
    await query(`UPDATE "${SHARED}".lily_leases SET expires_at = clock_timestamp() - interval '1 second'`);
    const taken = await two.locks.acquire("k", { waitMs: 30_000 });
    const late = one.fencedStore(stalled).put(["n"], "k", {});
    await expect(late).rejects.toMatchObject({ code: "lease_lost" });
    await taken.release();
  });

  it("are renewed for as long as they are held", async () => {
    const { locks } = await open({ leaseMs: 300 });
    const lease = await locks.acquire("k");
    const ends = async () =>
      (await query<{ at: Date }>(`SELECT expires_at AS at FROM "${SHARED}".lily_leases`))[0]?.at;
    const granted = await ends();
    while (Number(await ends()) === Number(granted)) await new Promise((resolve) => setImmediate(resolve));
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
  });

  it("tell their holder at the renewal that finds a newer grant", async () => {
    const { locks } = await open({ leaseMs: 600 });
    const lease = await locks.acquire("k");
    await query(`UPDATE "${SHARED}".lily_leases SET token = token + 1`);
    expect(await whenAborted(lease.lost)).toMatchObject({ code: "lease_lost" });
  });

  it("leave the pool to their holders, however many are held", async () => {
    const work = async (name: string): Promise<void> => {
      const lease = await backend.locks.acquire(name);
      await backend.fencedStore(lease).put(["n"], name, {});
      await lease.release();
    };
    // More than the pool has connections.
    const names = Array.from({ length: 12 }, (_, n) => `key ${n}`);
    const held = await Promise.all(names.map((name) => backend.locks.acquire(`other ${name}`)));
    await Promise.all(names.map(work));
    expect(await backend.store.search(["n"], { limit: 100 })).toHaveLength(12);
    await Promise.all(held.map((lease) => lease.release()));
  });

  it("are given back when the backend is closed", async () => {
    const one = await open();
    const lease = await one.locks.acquire("k");
    await one.close();
    expect(lease.lost.aborted).toBe(false);
    await take(other, "k");
  });

  it("take names with NUL, half of a surrogate pair, and of any length, and keep them apart", async () => {
    const { locks } = backend;
    const names = [
      "a\u0000",
      "a\u2400",
      "\ud800",
      "\ufffd",
      "x".repeat(50_000),
      "x".repeat(50_001),
      "é",
      "e\u0301",
    ];
    const leases = await Promise.all(names.map((name) => locks.acquire(name, { waitMs: 5_000 })));
    expect(leases.map((lease) => lease.token)).toEqual(names.map(() => 1));
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it("are free again when a holder gives back one that it was told to be lost", async () => {
    const one = await open({ leaseMs: 60 });
    const lease = await one.locks.acquire("k");
    await query(`UPDATE "${SHARED}".lily_leases SET token = token + 1`);
    await whenAborted(lease.lost);
    await lease.release();
    await take(other, "k");
  });

  it("are not shared by schemas of one database", async () => {
    await take(backend, "k");
    await take(await open({ schema: newSchema() }), "k");
  });
}

function describeFencing(): void {
  it("refuses the write of a holder whose lock another backend has taken since", async () => {
    const [one, two] = [backend, other];
    const old = await take(one, "k");
    await one.fencedStore(old).put(["n"], "k", { by: "old" });
    await endLockConnections();
    const newer = await take(two, "k");
    const late = one.fencedStore(old).put(["n"], "k", { by: "late" });
    await expect(late).rejects.toMatchObject({ code: "lease_lost" });
    await two.fencedStore(newer).put(["n"], "k", { by: "newer" });
    expect((await one.store.get(["n"], "k"))?.value).toEqual({ by: "newer" });
  });

  it("keeps a newer grant waiting until a write under the lease before it is over", async () => {
    const [one, two] = [backend, other];
    await one.store.put(["n"], "k", {});
    const blocker = await direct.connect();
    await blocker.query(`BEGIN; UPDATE "${SHARED}".lily_items SET key = key`);
    const old = await one.locks.acquire("k");
    const write = one.fencedStore(old).put(["n"], "k", { by: "old" });
    await untilBlocked(1);
    const released = old.release();
    const next = two.locks.acquire("k");
    await untilBlocked(2);
    await blocker.query("COMMIT");
    blocker.release();
    await write;
    await released;
    expect((await next).token).toBe(2);
    await (await next).release();
  });
}

/** Waits until so many connections wait for a lock on rows. */
async function untilBlocked(connections: number): Promise<void> {
  const waiting = () => query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
  while ((await waiting()).length < connections) await new Promise((resolve) => setImmediate(resolve));
}

/** A graph that keeps the word that it is given. */
function wordGraph(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(Annotation.Root({ word: Annotation<string> }))
    .addNode("keep", () => ({}))
    .addEdge("__start__", "keep")
    .compile({ checkpointer });
}

const ON_T = { configurable: { thread_id: "t" } };

/** Puts checkpoints of an id as somebody who changes the state does: they are stored at once. */
const putIn = (saver: BaseCheckpointSaver) => (id: string) =>
  saver.put(ON_T, { ...emptyCheckpoint(), id }, { source: "update", step: 1, parents: {} }, {});

async function listed(saver: BaseCheckpointSaver): Promise<string[]> {
  const ids: string[] = [];
  for await (const { checkpoint, config } of saver.list(ON_T))
    ids.push(checkpoint.id ?? String(config.configurable?.["checkpoint_id"]));
  return ids;
}

function describeCheckpoints(): void {
  it("prunes more rows than one transaction takes, with their writes and the values nobody has any more", async () => {
    const { checkpointer } = backend;
    const graph = countingGraph(checkpointer);
    for (let run = 0; run < 3; run += 1) await graph.run("t", 1);
    await graph.run("other", 1);
    const tables = ["checkpoints", "checkpoint_writes", "checkpoint_blobs"];
    const counts = async (thread: string) => {
      const count = async (table: string) =>
        (await query(`SELECT FROM "${SHARED}".${table} WHERE thread_id = $1`, [thread])).length;
      return Promise.all(tables.map(count));
    };
    const filler = `INSERT INTO "${SHARED}".checkpoint_blobs
      SELECT 't', '', 'filler', n::text, 'json', '1' FROM generate_series(1, 450) AS n`;
    await query(filler);
    const others = await counts("other");
    await checkpointer.retain("t", 1);
    expect(await graph.stateOf("t")).toEqual({ total: 6 });
    await graph.run("t", 1);
    await checkpointer.retain("t", 1);
    const pruned = await counts("t");
    await graph.run("t", 1);
    await checkpointer.retain("t", 1);
    expect(await counts("t")).toEqual(pruned);
    expect(await graph.stateOf("t")).toEqual({ total: 10 });
    expect(await counts("other")).toEqual(others);
    const filled = await query(`SELECT FROM "${SHARED}".checkpoint_blobs WHERE channel = 'filler'`);
    expect(filled).toEqual([]);
  });

  it("drops what subgraphs have put before what is kept", async () => {
    const { checkpointer } = backend;
    const add = (id: string, namespace = "") =>
      query(`INSERT INTO "${SHARED}".checkpoints VALUES ('t', $1, $2, NULL, NULL, '{}', '{}')`, [
        namespace,
        id,
      ]);
    await add("1");
    await add("2", "anew:task-1");
    await add("3");
    await add("4", "anew:task-2");
    expect(await checkpointer.retain("t", 1)).toBe(2);
    const left = `SELECT checkpoint_ns || '/' || checkpoint_id AS id FROM "${SHARED}".checkpoints ORDER BY 1`;
    expect(await query(left)).toEqual([{ id: "/3" }, { id: "anew:task-2/4" }]);
  });

  it("takes the checkpoint that was put last for the newest, though another server's clock is ahead", async () => {
    const { checkpointer } = backend;
    const put = putIn(checkpointer);
    for (const id of ["a", "c", "b"]) await put(id);
    expect((await checkpointer.getTuple(ON_T))?.checkpoint.id).toBe("b");
    expect(await listed(checkpointer)).toEqual(["b", "a"]);
  });

  it("drops a thread that cannot be read, and no other", async () => {
    const { checkpointer } = backend;
    for (const thread of ["t", "other"]) await countingGraph(checkpointer).run(thread, 1);
    await query(
      `UPDATE "${SHARED}".checkpoint_blobs SET type = 'json', blob = 'no JSON' WHERE thread_id = 't' AND channel = 'total'`,
    );
    const { checkpointer: again } = other;
    expect(await countingGraph(again).stateOf("t")).toEqual({});
    expect(await countingGraph(again).stateOf("other")).toEqual({ total: 2 });
  });

  it("goes on with the tables of an earlier version", async () => {
    const schema = newSchema();
    await (await open({ schema })).close();
    await query(`ALTER TABLE "${schema}".lily_leases DROP COLUMN pid`);
    const order = "lily_put_order bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY";
    await query(`ALTER TABLE "${schema}".checkpoints ADD COLUMN ${order}`);
    await query(`INSERT INTO "${schema}".lily_leases VALUES ('"k"', 7, '-infinity')`);
    const { checkpointer, locks } = await open({ schema });
    expect(await countingGraph(checkpointer).run("t", 1)).toEqual({ total: 2 });
    expect((await locks.acquire("k")).token).toBe(8);
  });

  it("gives a run from an old checkpoint its own values, not those of the run that came before it", async () => {
    const { checkpointer } = backend;
    const graph = wordGraph(checkpointer);
    const thread = { configurable: { thread_id: "t" } };
    await graph.invoke({ word: "first" }, thread);
    const { config } = await graph.getState(thread);
    await graph.invoke({ word: "second" }, thread);
    await graph.invoke({ word: "other" }, config);
    expect((await graph.getState(thread)).values).toEqual({ word: "other" });
  });

  it("takes NUL and halves of surrogate pairs in values as they are", async () => {
    const { checkpointer } = backend;
    const graph = wordGraph(checkpointer);
    await graph.invoke({ word: "a\u0000b\ud800" }, ON_T);
    expect((await graph.getState(ON_T)).values).toEqual({ word: "a\u0000b\ud800" });
  });

  it("says what is wrong when a table is missing", async () => {
    const schema = newSchema();
    const { checkpointer } = await open({ schema });
    await query(`DROP TABLE "${schema}".checkpoints`);
    const read = checkpointer.getTuple({ configurable: { thread_id: "t" } });
    await expect(read).rejects.toMatchObject({ code: "storage_failed" });
  });
}

function describeSessions(): void {
  it("keeps ids apart that a database could mistake for each other", async () => {
    const sessions = createStoreSessionRepository(backend.store);
    const ids = [
      "a.b:c%_",
      "",
      "a",
      "A",
      "a:b",
      "a.b",
      "user1",
      "user10",
      "user%",
      "user_",
      "\\",
      "a b",
      "é",
      "e\u0301",
      "\u0000",
    ];
    const refs = ids.flatMap((owner) => ids.slice(0, 6).map((sessionKey) => ({ owner, sessionKey })));
    const chainOf = (ref: KeyRef) =>
      openChain({
        ...ref,
        sessionId: JSON.stringify(ref),
        at: new Date(START).toISOString(),
        deliveryId: "d",
        textHash: "h",
      });
    await Promise.all(refs.map((ref) => sessions.writeChain(chainOf(ref))));
    for (const ref of refs) expect(await sessions.readChain(ref)).toEqual(chainOf(ref));
  });

  it("pages failures of one session, without those of a session whose id begins with its id", async () => {
    const sessions = createStoreSessionRepository(backend.store);
    const failureOf = (sessionId: string): FailedTurn => ({
      sessionId,
      deliveryId: "d",
      requestId: "r",
      at: new Date(START).toISOString(),
      code: "turn_failed",
      message: "m",
      node: "n",
      text: "t",
    });
    const key = { owner: "mara", sessionKey: "k" };
    for (const sessionId of ["s1", "s10", "s%", "s_"]) {
      await sessions.writeFailure({ ...key, sessionId }, failureOf(sessionId));
    }
    for (const sessionId of ["s1", "s10", "s%", "s_"]) {
      expect(await sessions.readFailures({ ...key, sessionId })).toEqual([failureOf(sessionId)]);
    }
  });
}

function describeErasing(): void {
  const clock = createManualClock(START);
  const ids = createSequentialIds(5);

  it("erases a fact, writes the tables anew, and says that the log is not reached", async () => {
    const storage = backend;
    const facts = createFactStore(storage.store, { clock, ids, scan: async () => [] });
    const fact = { text: "My neighbour keeps zebrafish", saidBy: "owner", source: "command" } as const;
    for (const owner of ["ada", "ad", "ada%"]) await facts.remember({ owner }, fact);
    const receipt = await erase({ storage, clock, ids }, { owner: "ada", text: fact.text });
    expect(receipt.finished).toBe(true);
    expect(receipt.lines).toEqual(
      expect.arrayContaining([
        { place: "memory", outcome: "erased", count: 1 },
        { place: "database files", outcome: "erased", count: 7, note: "written anew" },
        expect.objectContaining({ place: "database log", outcome: "not_supported" }),
      ]),
    );
    for (const [owner, total] of [
      ["ada", 0],
      ["ad", 1],
      ["ada%", 1],
    ] as const)
      expect((await facts.show({ owner })).total).toBe(total);
    await erase({ storage, clock, ids }, { owner: "ad" });
    expect((await facts.show({ owner: "ad" })).total).toBe(0);
    expect((await facts.show({ owner: "ada%" })).total).toBe(1);
  });

  it("says that the tables are not finished while somebody uses one", async () => {
    const storage = backend;
    const reader = await direct.connect();
    await reader.query("BEGIN");
    await reader.query(`SELECT * FROM "${SHARED}".lily_items`);
    expect(await storage.erasure?.scrub()).toMatchObject({ outcome: "unfinished" });
    await reader.query("COMMIT");
    reader.release();
    expect(await storage.erasure?.scrub()).toEqual({ outcome: "done", files: 7 });
  });

  it("leaves no name of a forgotten lock in the table of leases, nor in what the planner has sampled of it", async () => {
    for (const key of ["a", "b"]) await (await backend.locks.acquire(`turn/zebrafish/${key}`)).release();
    await query(`ANALYZE "${SHARED}".lily_leases`);
    const said = async () => {
      await query("CHECKPOINT");
      const [page] = await query<{ bytes: Buffer }>(
        `SELECT pg_read_binary_file(pg_relation_filepath('"${SHARED}".lily_leases')) AS bytes`,
      );
      const sampled = await query(
        "SELECT FROM pg_stats AS s WHERE schemaname = $1 AND tablename = 'lily_leases' AND s::text LIKE '%zebrafish%'",
        [SHARED],
      );
      return [page?.bytes.includes("zebrafish"), sampled.length];
    };
    expect(await said()).toEqual([true, 1]);
    expect(await backend.erasure?.forgetLocks("turn/zebrafish/")).toBe(2);
    await backend.erasure?.scrub();
    expect(await said()).toEqual([false, 0]);
  });
}
