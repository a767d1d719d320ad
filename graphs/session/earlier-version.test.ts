/** Files that version 0.1.0 wrote: two sessions, and a turn that a crash cut off before its tool ran. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { verifyOwner } from "#src/sessions/verify.ts";
import { createHarness, echoModel, inputOf, latestOf, OWNER, type Harness } from "./testing/harness.ts";

const FILES = [
  ["checkpointer.sqlite.gz", "checkpoints/checkpointer.sqlite"],
  ["store.sqlite.gz", "memory/store.sqlite"],
] as const;

function copyFiles(folder: string): void {
  for (const [packed, path] of FILES) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const source = new URL(`testing/home-0.1.0/${packed}`, import.meta.url);
    writeFileSync(join(folder, path), gunzipSync(readFileSync(source)));
  }
}

let lily: Harness | undefined;
afterEach(async () => lily?.close());

async function open() {
  const model = echoModel();
  lily = await createHarness({ model, prepare: copyFiles });
  return { lily, model };
}

describe("ST-13 files of an earlier version", () => {
  it("are read whole, and everything in them verifies", async () => {
    const { lily } = await open();
    const [first, second] = (await lily.chain()).sessions;
    const texts = async (id = ""): Promise<string[]> =>
      (await lily.turns(id)).map(({ messages }) => messages.map(({ content }) => content).join(" / "));
    expect(await texts(first?.sessionId)).toEqual(["one / one answered", "two / two answered"]);
    expect(await texts(second?.sessionId)).toEqual(["three / three answered"]);
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, problems: [] });
  });

  it("go on where a crash left them: the open tool call is closed and not run again", async () => {
    const { lily, model } = await open();
    expect(await lily.send("hello?")).toMatchObject({ outcome: "answered", turn: 3, repeated: false });
    const [asked, called, closed, ...rest] = inputOf(model).slice(2);
    expect(asked).toBe("human: look it up");
    expect(called).toMatch(/^ai: /u);
    expect(closed).toMatch(/^tool: interrupted/u);
    expect(rest).toEqual(["human: hello?"]);
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, problems: [] });
  });

  it("know a delivery that was answered then, and list the checkpoints that were made then", async () => {
    const { lily } = await open();
    const [turn] = await lily.turns(latestOf(await lily.chain()).sessionId);
    expect(await lily.send("three", { deliveryId: turn?.deliveryId ?? "" })).toMatchObject({
      repeated: true,
    });
    const states: unknown[] = [];
    const config = { configurable: { thread_id: turn?.sessionId } };
    for await (const { values } of lily.sessions.graph.getStateHistory(config)) states.push(values);
    expect(states.length).toBeGreaterThan(5);
  });
});
