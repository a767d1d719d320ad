import { join } from "node:path";
import { expect, it } from "vitest";
import { hunt } from "#src/erasure/testing/hunt.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { echoModel, KEY, OWNER } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";
const start = harnessStarter();
const FACT = "My neighbour keeps zebrafish in Ostend";
it.each(["prepareTurn", "callModel", "commit", "decideRollover"])("does not come back %s", async (node) => {
  const model = echoModel();
  const one = await start({ model });
  const other = await start({
    model,
    adjust: (deps) => ({ ...deps, ids: createSequentialIds(77) }),
    wrapStorage(unused) {
      const storage = openSqliteBackend({
        checkpointPath: join(one.folder, "checkpoints", "checkpointer.sqlite"),
        storePath: join(one.folder, "memory", "store.sqlite"),
        clock: one.clock,
        ids: createSequentialIds(78),
      });
      return { ...storage, close: () => storage.close().then(() => unused.close()) };
    },
  });
  const { sessionId } = await one.send("hello");
  const stream = await other.sessions.graph.stream(
    { messages: [{ role: "user", content: FACT, id: "x" }] },
    {
      configurable: { thread_id: sessionId },
      context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
      interruptBefore: [node] as never,
      streamMode: "updates",
    },
  );
  for await (const _update of stream);
  await one.send(`/forget ${FACT} --everywhere --yes`);
  expect(hunt(one.folder, { text: FACT, words: ["zebrafish", "ostend"] })).toEqual([]);
  await other.storage.close();
  expect(hunt(one.folder, { text: FACT, words: ["zebrafish", "ostend"] })).toEqual([]);
});
