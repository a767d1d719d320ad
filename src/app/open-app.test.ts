import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openApp } from "./open-app.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lily-app-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it.each([
  ["few messages, which nobody is shown", {}, 3_000],
  ["as many as it is told", { limits: { windowCharacters: 12_000 } }, 12_000],
])("keeps in the states of a home folder %s", async (_what, config, characters) => {
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  const { deps, storage } = await openApp({ LILY_HOME: home }, home);
  await storage.close();
  expect(deps.limits.windowCharacters).toBe(characters);
});
