import { describe, expect, it } from "vitest";
import { rulesOf, SERVER_ROUTES } from "./server-routes.ts";
import { installedRoutes } from "./testing/installed-routes.ts";

describe("the routes of the installed LangGraph server", () => {
  it("are judged one by one, and no other ones are", () => {
    const installed = installedRoutes();
    expect(installed.length).toBeGreaterThan(50);
    expect(Object.values(SERVER_ROUTES).flat().toSorted()).toEqual(installed.toSorted());
  });
});

describe("a request", () => {
  const [thread, run] = ["01890000-0000-7000-8000-00000000000a", "01890000-0000-7000-8000-00000000000b"];

  it.each<[string, string, string[]]>([
    ["GET", `/runs/${run}/stream`, ["closed"]],
    ["HEAD", `/runs/${run}/stream`, ["closed"]],
    ["POST", "/runs/stream", ["asked"]],
    ["GET", `/threads/${thread}/runs/${run}/stream`, ["run"]],
    ["POST", `/threads/${thread}/commands`, ["thread"]],
    ["GET", `/assistants/${run}/subgraphs`, ["asked"]],
    ["GET", "/assistants/x/subgraphs/y", ["asked"]],
  ])("%s %s has the rules %j", (method, path, rules) => {
    expect(rulesOf(method, path).map(({ rule }) => rule)).toEqual(rules);
  });

  it.each([
    ["GET", "/metrics"],
    ["POST", "/mcp"],
    ["PUT", "/threads"],
    ["GET", "/threads/"],
    ["GET", "//threads/search"],
    ["POST", "/lily/v1/keys/k/messages"],
  ])("%s %s, which nobody has judged, has none", (method, path) => {
    expect(rulesOf(method, path)).toEqual([]);
  });
});
