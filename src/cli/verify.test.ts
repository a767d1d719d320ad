import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openChain } from "#src/sessions/chain.ts";
import { EMPTY_HEAD, linkTurn } from "#src/sessions/seal.ts";
import { turnBody } from "#src/sessions/testing/turn-body.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { erasePartsFromChain } from "#src/sessions/redaction.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { verifyStore } from "#src/upkeep/conversations.ts";
import { verifiedEnvelope } from "./verify.ts";

const AT = "2026-03-01T09:00:00.000Z";
const KEY = { owner: "local", sessionKey: "cli:main" };

function turnsOf(count: number): TurnRecord[] {
  const records: TurnRecord[] = [];
  for (let turn = 1; turn <= count; turn += 1)
    records.push(linkTurn(turnBody({ turn }), { head: records.at(-1)?.head ?? EMPTY_HEAD, salt: "s" }));
  return records;
}

/** What is told of three turns of which some were erased, and of a title. */
async function run(erased: readonly number[], isTitleErased: boolean) {
  const { store } = createMemoryBackend({ clock: createManualClock(0) });
  const repository = createStoreSessionRepository(store);
  const chain = openChain({ ...KEY, sessionId: "s1", at: AT, deliveryId: "d0", textHash: "h" });
  await repository.writeChain({
    ...chain,
    sessions: chain.sessions.map((entry) => ({ ...entry, title: "plums" })),
  });
  for (const record of turnsOf(3)) await repository.writeTurn({ ...KEY, sessionId: "s1" }, record);
  await repository.redactTurns(
    KEY,
    erased.map((turn) => ({ sessionId: "s1", turn })),
    AT,
  );
  const stored = await repository.readChain(KEY);
  if (stored !== undefined) await repository.writeChain(erasePartsFromChain(stored, () => isTitleErased, AT));
  return verifiedEnvelope(await verifyStore(store));
}

const WHAT = "1 session with 3 turns verified: everything is as it was committed";

describe("lily verify", () => {
  it.each<[readonly number[], boolean, string]>([
    [[], false, `${WHAT}.`],
    [[2], false, `${WHAT}; 1 turn was erased on request.`],
    [[1, 3], false, `${WHAT}; 2 turns were erased on request.`],
    [[], true, `${WHAT}; 1 title was erased on request.`],
    [[1], true, `${WHAT}; 1 turn and 1 title were erased on request.`],
  ])(
    "counts what was erased on request, which is no problem: turns %j, title %s",
    async (turns, title, text) => {
      expect(await run(turns, title)).toMatchObject({ ok: true, message: text });
    },
  );
});
