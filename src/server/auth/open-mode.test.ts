import { describe, expect, it } from "vitest";
import { openAuthenticator } from "./authenticator.ts";

const NO_HOME = "/nonexistent/lily";

interface Asked {
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly peer?: string;
  readonly env?: Record<string, string>;
}

async function ask({ url = "http://localhost:2024/threads", headers = {}, peer, env = {} }: Asked) {
  const login = openAuthenticator(env, NO_HOME, { owner: "mara" });
  return login.authenticate(new Request(url, { headers }), peer).then(
    ({ owner }) => owner,
    (error: unknown) => String(error),
  );
}

describe("a server without keys serves, as its configured owner,", () => {
  it.each<[string, Asked]>([
    ["localhost", {}],
    ["127.0.0.1", { url: "http://127.0.0.1:2024/ok" }],
    ["all of 127.0.0.0/8", { url: "http://127.1.2.3/ok" }],
    ["::1", { url: "http://[::1]:2024/ok" }],
    ["capital letters", { url: "http://LOCALHOST/ok", headers: { host: "LocalHost:2024" } }],
    ["a peer by IPv4", { peer: "127.0.0.1" }],
    ["a peer by IPv6", { peer: "::1" }],
    ["a peer by mapped IPv4", { peer: "::ffff:127.0.0.1" }],
    ["a page of this machine", { headers: { origin: "http://localhost:3000" } }],
    ["LangGraph Studio", { headers: { origin: "https://smith.langchain.com" } }],
    ["LangGraph Studio in Europe", { headers: { origin: "https://eu.smith.langchain.com" } }],
    ["a client that sends the key it found", { headers: { "x-api-key": "lsv2_pt_other" } }],
  ])("%s", async (_name, asked) => {
    expect(await ask(asked)).toBe("mara");
  });
});

describe("a server without keys refuses", () => {
  it.each<[string, Asked, RegExp]>([
    ["a name of the network", { url: "http://lily.example/ok" }, /another host/u],
    ["an address of the network", { url: "http://192.168.1.7:2024/ok" }, /another host/u],
    ["all addresses", { url: "http://0.0.0.0:2024/ok" }, /another host/u],
    ["a name that begins like this machine", { url: "http://localhost.evil.example/ok" }, /another host/u],
    ["a name that begins like an address", { url: "http://127.0.0.1.evil.example/ok" }, /another host/u],
    ["a name that ends like this machine", { url: "http://evil-localhost/ok" }, /another host/u],
    ["another Host header", { headers: { host: "evil.example:2024" } }, /another host/u],
    ["a Host header that is none", { headers: { host: "local host" } }, /another host/u],
    ["a peer of the network that says localhost", { peer: "192.168.1.7" }, /another machine/u],
    ["a peer by mapped IPv4", { peer: "::ffff:10.0.0.2" }, /another machine/u],
    ["a proxy", { headers: { "x-forwarded-for": "203.0.113.9" } }, /proxy or tunnel/u],
    ["a tunnel", { headers: { forwarded: "for=203.0.113.9" } }, /proxy or tunnel/u],
    ["a page of another origin", { headers: { origin: "https://evil.example" } }, /another origin/u],
    ["a page without an origin", { headers: { origin: "null" } }, /another origin/u],
    [
      "a page that is named like Studio",
      { headers: { origin: "https://smith.langchain.com.evil.example" } },
      /origin/u,
    ],
    ["Studio without encryption", { headers: { origin: "http://smith.langchain.com" } }, /another origin/u],
    [
      "Studio where it is kept out",
      { headers: { origin: "https://smith.langchain.com" }, env: { LILY_ALLOW_STUDIO: "0" } },
      /LILY_ALLOW_STUDIO/u,
    ],
  ])("%s", async (_name, asked, why) => {
    const answer = await ask(asked);
    expect(answer).toMatch(why);
    expect(answer).not.toMatch(/evil|203\.0/u);
  });

  it("others with the words that keys must be configured", async () => {
    const login = openAuthenticator({}, NO_HOME);
    await expect(login.authenticate(new Request("http://lily.example/"))).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("no keys are configured"),
      next: expect.stringContaining("lily keys new"),
    });
  });
});

it("a server with keys serves any host, and asks for the key on this machine too", async () => {
  const env = { LILY_JWT_JWKS_URL: "https://id.example/keys" };
  expect(await ask({ env })).toContain("no valid key");
  expect(await ask({ env, url: "http://lily.example/ok", peer: "10.0.0.2" })).toContain("no valid key");
});
