import { describe, expect, it } from "vitest";
import { parseCommand } from "./parse-command.ts";

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
