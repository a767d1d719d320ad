import { describe, expect, it } from "vitest";
import { loopbackHeaders, loopbackOwner } from "./loopback.ts";

describe("requests of this process to its own server", () => {
  it.each(["mara", "Müller, Ana", "a=b", "名前", "%2e", "x".repeat(1024)])("act for %j", (owner) => {
    expect(loopbackOwner(new Headers(loopbackHeaders(owner)))).toBe(owner);
  });

  it("carry no header that the server would store", () => {
    expect(Object.keys(loopbackHeaders("mara")).filter((name) => name.startsWith("x-"))).toEqual([]);
  });

  it("do not act for a text that is no owner", () => {
    expect(() => loopbackHeaders("")).toThrow("is not a owner");
  });
});

describe("requests of others act for nobody", () => {
  const { authorization } = loopbackHeaders("mara");

  it.each<[string, Record<string, string>]>([
    ["no headers", {}],
    ["an owner alone", { "on-behalf-of": "mara" }],
    ["the scheme without the secret", { authorization: "LilyLoopback", "on-behalf-of": "mara" }],
    ["an empty secret", { authorization: "LilyLoopback ", "on-behalf-of": "mara" }],
    ["a wrong secret", { authorization: `${authorization}x`, "on-behalf-of": "mara" }],
    ["the secret under another scheme", bearer()],
    ["a very long secret", { authorization: `LilyLoopback ${"x".repeat(10_000)}`, "on-behalf-of": "mara" }],
    ["the secret without an owner", { authorization: String(authorization) }],
    ["a blank owner", { authorization: String(authorization), "on-behalf-of": "%20" }],
    ["broken percent encoding", { authorization: String(authorization), "on-behalf-of": "%E0%A4%A" }],
    ["control characters", { authorization: String(authorization), "on-behalf-of": "a%00b" }],
  ])("%s", (_name, headers) => {
    expect(loopbackOwner(new Headers(headers))).toBeUndefined();
  });

  function bearer(): Record<string, string> {
    return {
      authorization: String(loopbackHeaders("mara")["authorization"]).replace("LilyLoopback", "Bearer"),
      "on-behalf-of": "mara",
    };
  }
});
