/** What the store takes for its operations, next to the same questions asked of bare SQLite in the same run. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toUnitLength } from "#memory/embedding/embedder.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { systemClock } from "#src/app/system.ts";
import { watchMachine } from "./machine-load.ts";
import { percentile } from "./measure.ts";
import { benchEmbedder, questionText } from "./store-bench-questions.ts";
import {
  benchQuestion,
  benchRecord,
  benchVector,
  OWNER,
  questionVector,
  type BenchRecord,
} from "./store-data.ts";
import { openFloor, type Floor } from "./store-floor.ts";
import { searchMemory } from "./store-memory.ts";

/** Operations that are measured. */
export const OPERATIONS = [
  "put",
  "get",
  "list, filter that many fulfil",
  "list, filter that few fulfil",
  "text search",
  "hybrid search",
] as const;

/** Name of an operation. */
export type OperationName = (typeof OPERATIONS)[number];

/** Times of one operation at one size. */
export interface OperationResult {
  readonly name: OperationName;
  readonly records: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly floorP50Ms: number;
  readonly floorP95Ms: number;
}

/** What was measured at one size. */
export interface StoreResult {
  readonly records: number;
  readonly operations: readonly OperationResult[];
  /** FTS5 alone, over everybody's records: not the same question, but the least that it can cost. */
  readonly ftsAlone: { readonly p50Ms: number; readonly p95Ms: number };
  readonly fillMsPerItem: number;
  readonly fileBytes: number;
  readonly floorBytes: number;
  /** Resident memory that opening and searching added to a fresh process. */
  readonly memoryBytes: number;
  readonly foreignCores: number;
}

const ROUNDS = 60;

/** Rounds that warm caches and the compiler, and do not count. */
const WARM_UP = 10;

const CHUNK = 1_000;
const PREFIX = ["memory", OWNER];

/** Fills a store and its floor with `records` and measures both, in turns. */
export async function storeBench(
  records: number,
  onProgress: (text: string) => void = () => undefined,
): Promise<StoreResult> {
  const folder = mkdtempSync(join(tmpdir(), "lily-store-bench-"));
  const foreignCores = watchMachine();
  try {
    const files = { store: join(folder, "store.sqlite"), floor: join(folder, "floor.sqlite") };
    const subjects = openSubjects(files, records);
    onProgress(`${records}: loading`);
    const fillMsPerItem = await load(subjects, records);
    onProgress(`${records}: measuring`);
    const measured = await measure(subjects, records);
    subjects.close();
    return {
      records,
      ...measured,
      fillMsPerItem,
      fileBytes: statSync(files.store).size,
      floorBytes: statSync(files.floor).size,
      memoryBytes: await searchMemory(files.store, records),
      foreignCores: foreignCores(),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Subjects {
  /** Without an embedder: text search alone. */
  readonly plain: SqliteStore;
  readonly hybrid: SqliteStore;
  readonly floor: Floor;
  close(): void;
}

function openSubjects(files: { readonly store: string; readonly floor: string }, records: number): Subjects {
  // Both sides without a wait for the disk: that would be all one sees.
  const db = openDatabase(files.store);
  const clock = systemClock();
  const floor = openFloor(files.floor);
  return {
    plain: new SqliteStore(db, { clock }),
    hybrid: new SqliteStore(db, { clock, index: { embed: benchEmbedder(records) } }),
    floor,
    close() {
      db.close();
      floor.close();
    },
  };
}

/** Milliseconds that a vector takes to be written, without the embedder. */
async function load({ hybrid, floor }: Subjects, records: number): Promise<number> {
  for (let start = 0; start < records; start += CHUNK) {
    const some = Array.from({ length: Math.min(CHUNK, records - start) }, (_, at) => benchRecord(start + at));
    await hybrid.batch(some);
    const ids = floor.putAll(some).map(Number);
    const vectors = some.map((_, at) => benchVector(start + at, records));
    floor.addVectors(
      some.flatMap(({ namespace }, at) => {
        const [id, vector] = [ids[at], vectors[at]];
        return id === undefined || vector === undefined ? [] : [{ id, namespace, vector }];
      }),
    );
  }
  const startedMs = performance.now();
  await hybrid.fillVectors(records);
  return (performance.now() - startedMs) / records;
}

type Work = (round: number) => unknown;

/** Made beforehand: to make one takes as long as to read some. */
function unitQuestions(records: number): readonly Float32Array[] {
  return Array.from(
    { length: ROUNDS + WARM_UP },
    (_, round) => toUnitLength(questionVector(round, records)) ?? new Float32Array(),
  );
}

async function measure({ plain, hybrid, floor }: Subjects, records: number) {
  const questions = unitQuestions(records);
  const unit = (round: number) => questions[round] ?? new Float32Array();
  const owned = (round: number) => benchRecord(((round * 7907) % Math.floor(records / 5)) * 5);
  const fresh = (round: number, kind: number) => benchRecord(records + round * 2 + kind);
  const domain = [...PREFIX, "persona"];
  const list = (kind: string): [Work, Work] => [
    () => plain.search(domain, { filter: { kind } }),
    () => floor.list(domain, kind),
  ];
  const works: Record<OperationName, [Work, Work]> = {
    put: [(round) => plain.put(...partsOf(fresh(round, 0))), (round) => floor.put(fresh(round, 1))],
    get: [
      (round) => plain.get(owned(round).namespace, owned(round).key),
      (round) => floor.get(owned(round).namespace, owned(round).key),
    ],
    "list, filter that many fulfil": list("kind8"),
    "list, filter that few fulfil": list("rare"),
    "text search": [
      (round) => plain.search(PREFIX, { query: benchQuestion(round) }),
      (round) => floor.search(PREFIX, benchQuestion(round)),
    ],
    "hybrid search": [
      (round) => hybrid.search(PREFIX, { query: questionText(round) }),
      (round) => [floor.search(PREFIX, benchQuestion(round)), floor.exact(PREFIX, unit(round))],
    ],
  };
  const operations: OperationResult[] = [];
  for (const name of OPERATIONS) {
    const [ours, bare] = await inTurns(works[name]);
    operations.push({
      name,
      records,
      p50Ms: percentile(ours, 0.5),
      p95Ms: percentile(ours, 0.95),
      floorP50Ms: percentile(bare, 0.5),
      floorP95Ms: percentile(bare, 0.95),
    });
  }
  const alone = (round: number) => floor.searchAlone(benchQuestion(round));
  const [ftsAlone] = await inTurns([alone, alone]);
  return { operations, ftsAlone: { p50Ms: percentile(ftsAlone, 0.5), p95Ms: percentile(ftsAlone, 0.95) } };
}

/** Milliseconds of both, measured one after the other, so that what disturbs one disturbs the other. */
async function inTurns([ours, bare]: [Work, Work]): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    for (const [at, work] of [ours, bare].entries()) {
      const startedMs = performance.now();
      await work(round);
      if (round >= WARM_UP) times[at]?.push(performance.now() - startedMs);
    }
  }
  return times;
}

const partsOf = ({ namespace, key, value }: BenchRecord): [string[], string, typeof value] => [
  namespace,
  key,
  value,
];
