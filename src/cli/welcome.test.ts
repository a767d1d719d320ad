import { describe, expect, it } from "vitest";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import type { Engine } from "./engine.ts";
import { plainScreen } from "./screen.ts";
import { welcomeText } from "./late-parts.ts";

const engineWith = (left: UnansweredMessage | undefined): Engine => {
  const engine: Partial<Engine> = {
    owner: "local",
    sessionKey: "cli:main",
    timeZone: "UTC",
    now: () => Date.parse("2026-03-01T10:00:00.000Z"),
    repository: { readChain: async () => undefined } as unknown as Engine["repository"],
    unanswered: async () => left,
  };
  return engine as Engine;
};

describe("the greeting", () => {
  it("says which conversation this is, and nothing else where all was answered", async () => {
    const text = await welcomeText(engineWith(undefined), plainScreen(200));
    expect(text).toBe("cli:main begins its first session");
  });

  it("tells of a message that a killed program left, and what to do, without control characters", async () => {
    const left = {
      deliveryId: "d",
      text: "how \u001b[31mare",
      at: "2026-03-01T09:12:00.000Z",
      state: "nothing",
    } as const;
    const text = await welcomeText(engineWith(left), plainScreen(200));
    expect(text).toContain("of 09:12 was not answered: the program ended. Send it again.");
    expect(text).not.toContain("\u001b");
  });
});
