/** What memory takes of a turn: recalling facts for a prompt, and remembering one, beside a long conversation. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFactStore, type FactStore } from "#memory/facts/fact-store.ts";
import { recordId } from "#memory/facts/rows.ts";
import { memoryIndexFields, recordNamespace } from "#memory/namespaces.ts";
import { PERSONALITY_DOMAINS, type MemoryRecord } from "#memory/record.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { memoryRecord } from "#memory/testing/memory-record.ts";
import { systemClock, systemIds } from "#src/app/system.ts";
import { benchmarkText } from "./benchmark-text.ts";
import { msText, percentile, timed } from "./measure.ts";
import { benchQuestion, benchRecord } from "./store-data.ts";
import { newTable } from "./table.ts";

/** What is measured. */
export const RECALL_OPERATIONS = [
  "recall for a prompt",
  "recall, everything asked for",
  "recall of somebody without memory",
  "remember a new fact",
  "remember a correction",
  "show the newest",
  "show what fits a question",
  "find by the beginning of an id",
  "overview",
] as const;

/** Times of one operation at one size. */
export interface RecallResult {
  readonly name: (typeof RECALL_OPERATIONS)[number];
  readonly facts: number;
  /** Turns of conversation beside them. */
  readonly turns: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

const OWNER = "ada";
const ROUNDS = 60;
const WARM_UP = 10;
const CHUNK = 500;
const AT_MS = Date.UTC(2026, 0, 1);

// What the session graph asks for with each message.
const NEWEST = { persona_core: 3, working_rules: 3 };

/** Measures with `facts` facts of one owner, four in five about them, beside `turns` turns of conversation. */
export async function recallBench(facts: number, turns = 2_000): Promise<RecallResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "lily-recall-bench-"));
  const db = openDatabase(join(folder, "store.sqlite"));
  try {
    // Without a wait for the disk: that would be all one sees.
    const store = new SqliteStore(db, {
      clock: systemClock(),
      index: { fields: (namespace) => memoryIndexFields(namespace) ?? ["$"] },
    });
    await fill(store, facts, turns);
    const factStore = createFactStore(store, {
      clock: systemClock(),
      ids: systemIds,
      scan: async () => [],
    });
    return await measure(factStore, { facts, turns });
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(store: SqliteStore, facts: number, turns: number): Promise<void> {
  const puts = [
    ...Array.from({ length: facts }, (_, index) => putOf(factNumber(index))),
    ...Array.from({ length: turns }, (_, index) => ({
      namespace: ["history", OWNER, "main", "session"],
      key: String(index),
      value: { user: benchmarkText(index, "question"), assistant: benchRecord(index).value.text },
    })),
  ];
  for (let start = 0; start < puts.length; start += CHUNK)
    await store.batch(puts.slice(start, start + CHUNK));
}

/** Fact number `index`, a second newer than the one before. */
function factNumber(index: number): MemoryRecord {
  const text = benchRecord(index).value.text;
  const at = new Date(AT_MS + index * 1000).toISOString();
  const domain = PERSONALITY_DOMAINS[index % 10 === 0 ? 0 : index % 10 === 1 ? 2 : 1];
  const record = memoryRecord({
    id: "",
    text,
    domain: domain ?? "user_profile",
    created_at: at,
    updated_at: at,
    conflict_group: index % 3 === 0 ? `attribute:thing ${index}` : null,
  });
  return { ...record, id: recordId(OWNER, record, text) };
}

function putOf(record: MemoryRecord) {
  return {
    namespace: recordNamespace(OWNER, record),
    key: record.id,
    value: { ...record },
    index: ["text"],
  };
}

async function measure(
  factStore: FactStore,
  { facts, turns }: { readonly facts: number; readonly turns: number },
): Promise<RecallResult[]> {
  const who = { owner: OWNER, agent: "lily" };
  const say = (text: string) =>
    factStore.remember(who, { text, domain: "user_profile", saidBy: "owner", source: "command" });
  const works: Record<RecallResult["name"], (round: number) => Promise<unknown>> = {
    "recall for a prompt": (round) =>
      factStore.recall(who, { query: benchQuestion(round), limit: 12, newest: NEWEST }),
    "recall, everything asked for": (round) =>
      factStore.recall(who, {
        query: benchQuestion(round),
        limit: 12,
        newest: { ...NEWEST, user_profile: 12 },
      }),
    "recall of somebody without memory": (round) =>
      factStore.recall({ ...who, owner: "bert" }, { query: benchQuestion(round), limit: 12, newest: NEWEST }),
    "remember a new fact": (round) => say(`${benchRecord(facts + round).value.text} anew`),
    "remember a correction": (round) => say(`My bicycle is number ${round}`),
    "show the newest": () => factStore.show(who),
    "show what fits a question": (round) => factStore.show(who, { query: benchQuestion(round) }),
    "find by the beginning of an id": (round) => factStore.find(who, factNumber(round).id.slice(0, 8)),
    overview: () => factStore.overview(who),
  };
  const results: RecallResult[] = [];
  for (const name of RECALL_OPERATIONS) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
      const ms = await timed(() => works[name](round));
      if (round >= WARM_UP) times.push(ms);
    }
    results.push({ name, facts, turns, p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95) });
  }
  return results;
}

/** Longest that recalling may take of a turn, at p95. */
const RECALL_LIMIT_MS = 15;

/** The table for people. */
export function recallTable(results: readonly RecallResult[]): string {
  const table = newTable(["what", "facts", "turns", "p50", "p95", "verdict"]);
  for (const { name, facts, turns, p50Ms, p95Ms } of results) {
    const verdict = name.startsWith("recall")
      ? `p95 ≤ ${RECALL_LIMIT_MS} ms ${p95Ms <= RECALL_LIMIT_MS ? "met" : "NOT MET"}`
      : "";
    table.push([name, facts, turns, msText(p50Ms), msText(p95Ms), verdict]);
  }
  return `Memory in a turn, of one owner beside turns of conversation\n${table.toString()}`;
}
