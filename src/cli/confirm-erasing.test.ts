import { describe, expect, it } from "vitest";
import { readForget } from "#src/commands/catalog/memory/find-record.ts";
import { parseCommand } from "#src/commands/parse-command.ts";
import { isYes, withYes } from "./confirm-erasing.ts";

describe("the yes to an erasure", () => {
  it.each([
    ["yes", true],
    [" Y ", true],
    ["YES", true],
    ["", false],
    ["no", false],
    ["yesterday", false],
    [undefined, false],
  ])("is %j: %s", (answer, is) => expect(isYes(answer)).toBe(is));

  it.each([
    "/forget tea --everywhere",
    "  /Forget@lily tea --everywhere",
    "/forget: --everywhere -- tea",
    "/forget --everywhere -- --yes tea",
    "/forget --everywhere\ntea",
  ])("is sent with %j as it is meant", (command) => {
    const before = parseCommand(command, ["lily"]);
    const parsed = parseCommand(withYes(command), ["lily"]);
    if (before.kind !== "command" || parsed.kind !== "command") throw new Error("no command");
    const [was, flags] = [readForget(before.args), readForget(parsed.args)];
    if (!was.ok || !flags.ok) throw new Error("not understood");
    expect(was.switches.has("yes")).toBe(false);
    expect([...flags.switches].sort()).toEqual(["everywhere", "yes"]);
    expect(flags.text).toBe(was.text);
  });
});
