import { describe, expect, it } from "vitest";
import { removeFolder } from "./run-scenario.ts";
import { UPKEEP_CASES } from "./upkeep-cases.ts";
import { cleanUpkeep, fillUpkeep, killUpkeep, prepareUpkeep } from "./upkeep-faults.ts";

/** Every state and every call is tried by `npm run faults -- --upkeep`. */
const ONE_STATE_IN = 5;
const ONE_CALL_IN = 24;

describe.each(UPKEEP_CASES.map((upkeep) => [upkeep.title, upkeep] as const))("%s", (_title, upkeep) => {
  it("is cut off, or finds no room, at any call: nothing that was said is lost, and it can be done again", async () => {
    const template = await prepareUpkeep(upkeep);
    try {
      const { images, points } = await cleanUpkeep(upkeep, template);
      expect(images.length).toBeGreaterThan(3);
      const some = images.filter((_image, index) => index % ONE_STATE_IN === 1);
      expect(await killUpkeep(upkeep, some)).toEqual([]);
      const calls = points.filter(({ side }, index) => side === "before" && index % ONE_CALL_IN === 0);
      expect(await fillUpkeep(upkeep, calls, template)).toEqual([]);
    } finally {
      removeFolder(template);
    }
  });
});
