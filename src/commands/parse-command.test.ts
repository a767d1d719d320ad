import { describe, expect, it } from "vitest";
import { parseCommand, parseFlags } from "./parse-command.ts";
import fc from "fast-check";

const parse = (text: string) => parseCommand(text, ["lily", "OurBot"]);
const command = (name: string, args = "") => ({ kind: "command", name, args });

describe("telling commands from text", () => {
  it.each([
    ["/newsletter ideas", "newsletter", "ideas"],
    ["/new-york trip", "new-york", "trip"],
    ["/newhello", "newhello", ""],
    ["/forgetful", "forgetful", ""],
  ])("CM-01 does not take %j for a shorter command", (text, name, args) => {
    expect(parse(text)).toEqual(command(name, args));
  });

  it.each([
    ["/new: hi", "hi"],
    ["/new", ""],
    ["/new   ", ""],
  ])("CM-01 ends the name of %j at a colon, at white space or at the end", (text, args) => {
    expect(parse(text)).toEqual(command("new", args));
  });

  it("CM-02 keeps the lines of an argument", () => {
    expect(parse("/remember Rent is due\non the 3rd")).toEqual(
      command("remember", "Rent is due\non the 3rd"),
    );
  });

  it.each([
    ["/new@OurBot plan a trip", "plan a trip"],
    ["/NEW@ourbot", ""],
  ])("CM-05 takes our own name off %j", (text, args) => {
    expect(parse(text)).toEqual(command("new", args));
  });

  it("CM-06 leaves a command for another bot alone", () => {
    expect(parse("/status@other_bot")).toEqual({ kind: "elsewhere", bot: "other_bot" });
  });

  it.each([
    "/new\thello",
    "/new\u00a0hello",
    "  /new hello",
    "/NEW hello",
    "/new\r\nhello",
    "\ufeff/new hello",
  ])("CM-07 takes %j as /new with the text hello", (text) => {
    expect(parse(text)).toEqual(command("new", "hello"));
  });

  it.each([
    "／new hello",
    "/ new",
    "//new",
    "/",
    "",
    "new",
    "/etc/hosts is a file",
    "/1",
    "see /new",
    "/new.",
    "/😀",
  ])("CM-07 takes %j as text, because no letter follows the slash or the name does not end", (text) => {
    expect(parse(text)).toEqual({ kind: "text" });
  });
});

const names = { values: ["domain", "task"], switches: ["dry-run"], usage: "/try" } as const;
const read = (args: string) => parseFlags(args, names);

describe("flags", () => {
  it.each([
    ["before the text", "--domain user_profile I like tea", "I like tea", { domain: "user_profile" }],
    ["behind the text", "I like tea --domain user_profile", "I like tea", { domain: "user_profile" }],
    ["between the words", "I like --domain=user_profile tea", "I like tea", { domain: "user_profile" }],
    ["with a value in quotes", '--task "my project" it is due', "it is due", { task: "my project" }],
    ["in capitals", "--Domain working_rules be brief", "be brief", { domain: "working_rules" }],
    ["as a phone writes them (M-7)", "—task “big move” x", "x", { task: "big move" }],
    ["with other quotes (M-7)", "x –task=„big move“", "x", { task: "big move" }],
    ["twice, of which the last counts", "--task a --task b x", "x", { task: "b" }],
  ])("are read %s", (_where, args, text, values) => {
    expect(read(args)).toMatchObject({ text, values });
  });

  it("leave line breaks, dashes inside words and a single dash alone", () => {
    const text = "first line\nsecond-line -x a--b — c - d";
    expect(read(text)).toMatchObject({ text, values: {} });
  });

  it("end at a lone --", () => {
    expect(read("--task a -- --domain is a flag")).toMatchObject({ text: "--domain is a flag" });
  });

  it("may be switches, which take no value", () => {
    const found = read("tea –dry-run green");
    expect(found).toMatchObject({ text: "tea green" });
    expect(found.switches.has("dry-run")).toBe(true);
  });

  it.each([
    ["--domian persona_core x", "a flag that is not known here; known are --domain, --task, --dry-run"],
    ["—domian persona_core x", "a flag that is not known here"],
    ["x --task", "--task needs a value"],
    ['x --task "open', "--task needs a value"],
    ["--dry-run=yes", "a flag that is not known here"],
  ])("that are wrong are told: %s", (args, problem) => {
    expect(() => read(args)).toThrow(problem);
  });

  it("that are wrong are not repeated: they may be a secret", () => {
    for (const args of ["my password --hunter2", "x --hunter2=hunter2"])
      expect(() => read(args)).toThrow(/^(?!.*hunter2)/u);
  });

  it("lose no word of a text that has none", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!/(?:^|\s)(?:--|[—–])/u.test(text));
        expect(read(text)).toMatchObject({ text: text.trim() });
      }),
    );
  });
});
