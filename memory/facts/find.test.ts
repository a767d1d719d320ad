import { expect, it } from "vitest";
import type { MemoryRecord } from "../record.ts";
import { matchId } from "./read.ts";
import { openTestFacts, recordOf } from "./testing/test-facts.ts";

const IDS = ["9c41e7aa-0000-5000-8000-000000000001", "9c41f012-0000-5000-8000-000000000002"];

async function records(): Promise<MemoryRecord[]> {
  const record = recordOf(await openTestFacts().say("a fact"));
  return IDS.map((id) => ({ ...record, id }));
}

it.each([
  ["9c41e7aa", [IDS[0]]],
  ["9C41E7", [IDS[0]]],
  ["9c41", IDS],
  ["9c41e7aa0000", [IDS[0]]],
  [" 9c41f012-0000-5000-8000-000000000002 ", [IDS[1]]],
  ["9c4", []],
  ["nope", []],
  ["", []],
  ["%%%%", []],
])("%j stands for %j", async (text, ids) => {
  const found = matchId(await records(), text);
  const hits = found.kind === "many" ? found.records : found.kind === "one" ? [found.record] : [];
  expect(hits.map(({ id }) => id)).toEqual(ids);
});
