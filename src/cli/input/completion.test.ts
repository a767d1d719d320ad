import { describe, expect, it } from "vitest";
import { completeCommand } from "./completion.ts";

const names = ["new", "status", "sessions", "help"];

describe("completion", () => {
  it("offers the commands that begin so", () => {
    expect(completeCommand("/s", names)).toEqual([["/status ", "/sessions "], "/s"]);
    expect(completeCommand("/", names)[0]).toHaveLength(4);
    expect(completeCommand("/HE", names)).toEqual([["/help "], "/HE"]);
  });

  it("offers nothing inside arguments and text", () => {
    expect(completeCommand("/new s", names)[0]).toEqual([]);
    expect(completeCommand("s", names)[0]).toEqual([]);
    expect(completeCommand("", names)[0]).toEqual([]);
  });
});
