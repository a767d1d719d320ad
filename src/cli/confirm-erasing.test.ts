import { describe, expect, it } from "vitest";
import { readForget } from "#src/commands/catalog/forget.ts";
import { parseCommand } from "#src/commands/parse-command.ts";
import { done, refused, replyText } from "#src/kernel/envelope.ts";
import { askedHere, isYes, withYes } from "./confirm-erasing.ts";

describe("the yes to an erasure", () => {
  it.each(["", "| turn | says |"])("is asked for in one way, where it can be given at once: %j", (body) => {
    const asked = refused("confirmation_needed", "2 turns", { next: "Send it again with --yes.", body });
    const text = replyText(askedHere(asked));
    expect(text).toContain("Write yes to erase it");
    expect(text).not.toContain("--yes");
    expect(text.startsWith("2 turns")).toBe(true);
    expect(replyText(askedHere(done("a", "b")))).toContain("Write yes");
  });

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
    expect(was.switches.has("yes")).toBe(false);
    expect([...flags.switches].sort()).toEqual(["everywhere", "yes"]);
    expect(flags.text).toBe(was.text);
  });
});
