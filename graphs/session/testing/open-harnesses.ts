/** Harnesses that are closed after each test of a file. */
import { afterEach } from "vitest";
import { createHarness, type Harness, type HarnessOptions } from "./harness.ts";

/** Registers the clean-up and gives the function that starts a harness. */
export function harnessStarter(): (options?: HarnessOptions) => Promise<Harness> {
  let open: Harness[] = [];
  afterEach(async () => {
    for (const harness of open) await harness.close();
    open = [];
  });
  return async (options = {}) => {
    const harness = await createHarness(options);
    open.push(harness);
    return harness;
  };
}
