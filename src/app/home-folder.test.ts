import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { homeFolder } from "./home-folder.ts";

const CWD = resolve("/somewhere/project");

describe("the home folder", () => {
  it.each<[string, Record<string, string | undefined>, string]>([
    [".lily in the current folder by default", {}, ".lily"],
    [".lily when LILY_HOME is empty", { LILY_HOME: "" }, ".lily"],
    [".lily when LILY_HOME is blank", { LILY_HOME: " \t" }, ".lily"],
    [".lily when LILY_HOME is undefined", { LILY_HOME: undefined }, ".lily"],
    ["a relative LILY_HOME in the current folder", { LILY_HOME: "data/lily" }, "data/lily"],
    ["LILY_HOME without the white space around it", { LILY_HOME: " data " }, "data"],
    ["a folder above the current one", { LILY_HOME: "../shared" }, "../shared"],
    ["the current folder itself", { LILY_HOME: "." }, "."],
    ["a name with spaces inside", { LILY_HOME: "my data" }, "my data"],
  ])("is %s", (_what, env, folder) => {
    expect(homeFolder(env, CWD)).toBe(resolve(CWD, folder));
  });

  it("is an absolute LILY_HOME wherever it is started", () => {
    const absolute = resolve("/var/lib/lily");
    expect(homeFolder({ LILY_HOME: absolute }, CWD)).toBe(absolute);
  });
});
