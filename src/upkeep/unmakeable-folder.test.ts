import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#memory/stores/sqlite/temporary-folder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { join } from "node:path";
import { backUp } from "./back-up.ts";
import { copyWhole } from "./whole-file.ts";
import { emptyHome, homeWith } from "./testing/make-home.ts";
import { restore } from "./restore.ts";

const clock = createManualClock(Date.parse("2026-03-01T09:00:00Z"));
const NOWHERE = "/proc/nobody/home";

// Only Linux has a folder in which the system makes none, and Node's own way of making folders never ends there.
describe.skipIf(!existsSync("/proc/self"))("a folder that cannot be made", () => {
  it("is told of at once by a backup, with its name", async () => {
    const home = await homeWith("one");
    await expect(backUp({ home, folder: `${NOWHERE}/backup`, program: "1", clock })).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining(`${NOWHERE}/backup could not be written`),
    });
  });

  it("is told of at once by a restore, with its name", async () => {
    const folder = join(temporaryFolder(), "backup");
    await backUp({ home: await homeWith("one"), folder, program: "1", clock });
    const home = { ...emptyHome(), folder: NOWHERE };
    const restored = restore({ folder, home, databasesBy: () => home.databases, clock });
    await expect(restored).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining(`the folder ${NOWHERE} could not be made`),
    });
  });

  it("is told of at once by a copy of a file", async () => {
    await expect(copyWhole(import.meta.filename, `${NOWHERE}/copy`)).rejects.toThrow("ENOENT");
  });
});
