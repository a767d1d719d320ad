/** An evidence book with a clock that is moved by hand, for tests. */
import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import { createManualClock, type ManualClock } from "#src/kernel/clock.ts";
import { ADA, NOW_MS } from "../../facts/testing/test-facts.ts";
import { indexFieldsOf } from "../../namespaces.ts";
import type { SecretScanner } from "../../policy/secret-scanner.ts";
import { openDatabase } from "../../stores/sqlite/open-database.ts";
import { SqliteStore } from "../../stores/sqlite/sqlite-store.ts";
import { createEvidenceBook, type EvidenceBook } from "../evidence-book.ts";
import type { IngestOutcome } from "../ingest.ts";

/** The book, and short ways to use it as ada. */
export interface TestEvidence {
  readonly book: EvidenceBook;
  readonly store: BaseStore;
  readonly clock: ManualClock;
  ingest(path: string, content: string | Uint8Array): Promise<IngestOutcome>;
  /** Texts of the pieces that fit, best first. */
  texts(query: string): Promise<string[]>;
  /** Every item that is stored. */
  items(): Promise<string>;
}

/** Opens one; no secret is found by shape unless `scan` does. */
export function openTestEvidence(
  store: BaseStore = new InMemoryStore(),
  scan: SecretScanner = async () => [],
): TestEvidence {
  const clock = createManualClock(NOW_MS);
  const book = createEvidenceBook(store, { clock, scan });
  return {
    book,
    store,
    clock,
    ingest: (path, content) =>
      book.ingest(ADA, { path, bytes: typeof content === "string" ? Buffer.from(content) : content }),
    async texts(query) {
      return (await book.search(ADA, query, 10)).map(({ piece }) => piece.text);
    },
    async items() {
      return JSON.stringify(await store.search(["evidence"], { limit: 100_000 }));
    },
  };
}

/** A SQLite store in memory that indexes as the application's does. */
export function sqliteStore(): SqliteStore {
  return new SqliteStore(openDatabase(":memory:"), {
    clock: createManualClock(NOW_MS),
    index: { fields: indexFieldsOf },
  });
}
