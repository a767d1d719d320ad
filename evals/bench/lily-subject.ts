/** Lily as a benchmark subject: whole turns on SQLite, with all that a turn keeps. */
import { createHarness } from "#graphs/session/testing/harness.ts";
import { InstantModel } from "./instant-model.ts";
import type { Subject } from "./subject.ts";

/** Opens Lily with the default configuration. Its clock stands still, so no session ends. */
export async function openLilySubject(): Promise<Subject> {
  const harness = await createHarness({ model: new InstantModel() });
  return {
    folder: harness.folder,
    async turn(text) {
      const { outcome, envelope } = await harness.send(text);
      if (outcome !== "answered") throw new Error(`the turn ended as ${outcome}: ${envelope.message}`);
    },
    settle: () => harness.restart(),
    close: () => harness.close(),
  };
}
