import { createManualClock } from "#src/kernel/clock.ts";
import { describeParity } from "../contract/parity.ts";
import { LILY_TRAITS } from "../contract/lily-traits.ts";
import { describeStoreContract } from "../contract.ts";
import { openDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";

function makeStore() {
  const clock = createManualClock(1_700_000_000_000);
  const db = openDatabase(":memory:");
  return { store: new SqliteStore(db, { clock }), tick: () => clock.advance(1), close: () => void db.close() };
}

describeStoreContract("SqliteStore", makeStore, LILY_TRAITS);
describeParity("SqliteStore", makeStore);
