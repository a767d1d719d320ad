import { expect, it } from "vitest";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { caught, FACT } from "./testing/forgotten-fact.ts";
import { echoModel, KEY, OWNER } from "./testing/harness.ts";
import { onFilesOf } from "./testing/on-files-of.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

it.each(["assembleContext", "callModel", "commit", "decideRollover"])(
  "what another program has not stored before %s does not come back when it ends",
  async (node) => {
    const model = echoModel();
    const one = await start({ model });
    const other = await start({
      model,
      adjust: (deps) => ({ ...deps, ids: createSequentialIds(77) }),
      wrapStorage: onFilesOf(one),
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
    expect(caught(one)).toEqual([]);
    await other.storage.close();
    expect(caught(one)).toEqual([]);
  },
);
