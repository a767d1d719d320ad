/** A process of its own that searches a store and prints how many bytes of memory that took. */
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { systemClock } from "#src/app/system.ts";
import { liveMemory } from "./collect-garbage.ts";
import { benchEmbedder, questionText } from "./store-bench-questions.ts";
import { OWNER } from "./store-data.ts";

const [file = "", records = "0"] = process.argv.slice(2);
const before = liveMemory().rssBytes;
const db = openDatabase(file);
const store = new SqliteStore(db, {
  clock: systemClock(),
  index: { embed: benchEmbedder(Number(records)), fields: ["text"] },
});
for (let round = 0; round < 30; round += 1)
  await store.search(["memory", OWNER], { query: questionText(round) });
console.log(liveMemory().rssBytes - before);
db.close();
