import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { hashApiKey, newApiKey } from "./auth/key-entries.ts";
import { type LilyServer, openServer } from "./serve.ts";
import { problemIn } from "./testing/http-harness.ts";

let home: string;
let open: LilyServer[] = [];

beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), "lily-serve-")), "home");
});
afterEach(async () => {
  for (const server of open) await server.close();
  open = [];
  rmSync(home, { recursive: true, force: true });
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function opened(env: Record<string, string> = {}, host = "127.0.0.1"): Promise<LilyServer> {
  const server = await openServer({ LILY_HOME: home, ...env }, home, {
    host,
    port: 0,
    report: () => undefined,
  });
  open.push(server);
  return server;
}

const send = (server: LilyServer, content: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}/lily/v1/keys/k/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ content }),
  });

describe("the server of a home folder", () => {
  it("serves programs of this machine without keys, and another server goes on after it", async () => {
    const server = await opened();
    expect(server).toMatchObject({ isOpen: true, owner: "local" });
    const first = turnReplySchema.parse(await (await send(server, "my seat is 12A")).json());
    await server.close();
    await server.close();
    await expect(send(server, "gone")).rejects.toThrow();

    const again = turnReplySchema.parse(await (await send(await opened(), "what is my seat?")).json());
    expect(again).toMatchObject({ sessionId: first.sessionId, turn: 2 });
    expect(again.envelope.message).toContain("12A");
  });

  it("does not serve web pages of other origins without keys", async () => {
    const server = await opened();
    const response = await send(server, "x", { origin: "https://evil.example" });
    expect((await problemIn(response)).code).toBe("forbidden");
  });

  it("serves each key as its owner, and nobody else", async () => {
    const [ana, ben] = [newApiKey(), newApiKey()];
    const env = { LILY_API_KEYS: `ana=${hashApiKey(ana)},ben=${hashApiKey(ben)}` };
    const server = await opened(env, "0.0.0.0");
    expect(server.isOpen).toBe(false);
    expect((await problemIn(await send(server, "x"))).code).toBe("unauthenticated");
    expect((await problemIn(await send(server, "x", bearer(newApiKey())))).code).toBe("unauthenticated");
    const [first, second] = [await send(server, "x", bearer(ana)), await send(server, "x", bearer(ben))];
    const [ofAna, ofBen] = [
      turnReplySchema.parse(await first.json()),
      turnReplySchema.parse(await second.json()),
    ];
    expect(ofAna.sessionId).not.toBe(ofBen.sessionId);
    expect((await fetch(`${server.url}/lily/v1/health`)).status).toBe(200);
  });

  it("limits each key by itself, also two of one owner, as it is configured (S-13)", async () => {
    mkdirSync(home);
    const server = { requestsPerMinute: 1, corsOrigins: ["https://chat.example"] };
    writeFileSync(join(home, "config.json"), JSON.stringify({ server }));
    const [phone, desk] = [newApiKey(), newApiKey()];
    const env = { LILY_API_KEYS: `ana=${hashApiKey(phone)},ana=${hashApiKey(desk)}` };
    const { url } = await opened(env);
    const ask = (key: string) =>
      fetch(`${url}/lily/v1/keys`, { headers: { ...bearer(key), origin: "https://chat.example" } });
    expect((await ask(phone)).headers.get("access-control-allow-origin")).toBe("https://chat.example");
    const refused = await ask(phone);
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect((await ask(desk)).status).toBe(200);
  });

  it.each(["without keys", "for a key that a whole team uses"])(
    "has room %s for hundreds of requests in a minute, and tens of messages at once (S-13)",
    async (who) => {
      const key = newApiKey();
      const isOpen = who === "without keys";
      const { url } = await opened(isOpen ? {} : { LILY_API_KEYS: `team=${hashApiKey(key)}` });
      const headers = { "content-type": "application/json", ...(isOpen ? {} : bearer(key)) };
      const list = Array.from({ length: 210 }, () => fetch(`${url}/lily/v1/keys`, { headers }));
      expect(new Set((await Promise.all(list)).map(({ status }) => status))).toEqual(new Set([200]));
      const messages = Array.from({ length: 20 }, (_item, n) =>
        fetch(`${url}/lily/v1/keys/k${n}/messages`, { method: "POST", headers, body: '{"content":"hi"}' }),
      );
      expect(new Set((await Promise.all(messages)).map(({ status }) => status))).toEqual(new Set([200]));
    },
  );

  it.each(["0.0.0.0", "::", "192.168.1.5", "lily.example"])(
    "does not listen on %s without keys, says how, and makes no files",
    async (host) => {
      await expect(opened({}, host)).rejects.toMatchObject({
        code: "config_invalid",
        next: expect.stringContaining("lily keys new"),
      });
      expect(existsSync(home)).toBe(false);
    },
  );
});
