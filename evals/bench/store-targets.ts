/** How far the store is from what its operations may take; a reader's verdict, nothing that fails a run. */
import type { OperationResult, StoreResult } from "./store-bench.ts";

/** What an operation may take; left out, there is no limit of that kind. */
interface Limit {
  /** Times the floor, by the middle of both. */
  readonly times?: number;
  /** Milliseconds at p95, where there are as many records. */
  readonly p95Ms?: { readonly records: number; readonly ms: number };
}

/** The size for which absolute times are set. */
const LARGE = 100_000;

const LIMITS: Readonly<Record<OperationResult["name"], Limit>> = {
  put: { times: 3 },
  get: { times: 3 },
  "list, filter that many fulfil": { times: 3 },
  "list, filter that few fulfil": { times: 3 },
  "text search": { times: 2, p95Ms: { records: LARGE, ms: 15 } },
  "hybrid search": {},
};

const MEMORY = { records: LARGE, bytes: 200_000_000 };

/** The verdict on an operation: `met`, or what is not. */
export function verdictOf({ name, records, p50Ms, p95Ms, floorP50Ms }: OperationResult): string {
  const { times, p95Ms: limit } = LIMITS[name];
  const parts: [text: string, isMet: boolean][] = [];
  if (times !== undefined) parts.push([`≤ ${times} x`, p50Ms <= times * floorP50Ms]);
  if (limit?.records === records) parts.push([`p95 ≤ ${limit.ms} ms`, p95Ms <= limit.ms]);
  return parts.map(([text, isMet]) => `${text} ${isMet ? "met" : "NOT MET"}`).join(", ");
}

/** The verdict on memory. */
export function memoryVerdict({ records, memoryBytes }: StoreResult): string {
  if (records !== MEMORY.records) return "";
  return `≤ ${MEMORY.bytes / 1e6} MB ${memoryBytes <= MEMORY.bytes ? "met" : "NOT MET"}`;
}
