import { performance } from "node:perf_hooks";
import { expect, it } from "vitest";
import { createSecretlintScanner } from "./secret-scanner.ts";

it("keeps nothing of a scan, however many there are", async () => {
  const scan = createSecretlintScanner();
  await scan("I like tea");
  const before = performance.getEntries().length;
  for (let count = 0; count < 20; count += 1) await scan(`I like tea number ${count}`);
  expect(performance.getEntries().length).toBe(before);
});
