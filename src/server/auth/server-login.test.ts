import { describe, expect, it, vi } from "vitest";
import { loopbackHeaders } from "#src/app/loopback.ts";
import type { Authenticator } from "./authenticator.ts";
import { unauthenticated } from "./refusals.ts";
import { createServerLogin } from "./server-login.ts";
import type { MayRead } from "./server-routes.ts";

const THREAD = "01890000-0000-7000-8000-00000000000a";

function loginWith({ isOpen = false, owner = "ana" }: { isOpen?: boolean; owner?: string | undefined } = {}) {
  const authenticator: Authenticator = {
    isOpen,
    authenticate: async (request) => {
      if (!request.headers.has("authorization") && !isOpen) throw unauthenticated();
      return { owner, id: "key-1" };
    },
  };
  const mayRead = vi.fn<MayRead>(async () => false);
  const login = createServerLogin({ authenticator, peerAddress: () => undefined, mayRead });
  const ask = (
    path: string,
    { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ) => login(new Request(`http://lily.example${path}`, { method, headers }));
  return { ask, mayRead };
}

const bearer = { authorization: "Bearer x" };

describe("the login", () => {
  it.each(["/ok", "/ok?x=1"])("is not needed to read %s, and gives no rights", async (path) => {
    const { ask } = loginWith();
    for (const method of ["GET", "HEAD"]) expect((await ask(path, { method })).permissions).toEqual([]);
    await expect(ask(path, { method: "POST" })).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("is not needed to ask which requests of other origins are allowed", async () => {
    expect((await loginWith().ask("/threads", { method: "OPTIONS" })).permissions).toEqual([]);
  });

  it.each(["/", "/okay", "/ok/", "/OK", "/lily/v1/health", "/info", "/threads", "//ok"])(
    "is needed for %s",
    async (path) => {
      await expect(loginWith().ask(path)).rejects.toMatchObject({ code: "unauthenticated" });
    },
  );

  it.each(["/internal/truncate", "/internal/%74runcate", "/%69nternal/truncate"])(
    "does not open %s to anybody",
    async (path) => {
      for (const headers of [{}, bearer, loopbackHeaders("ana")])
        await expect(
          loginWith({ isOpen: true }).ask(path, { method: "POST", headers }),
        ).rejects.toMatchObject({
          code: "forbidden",
        });
    },
  );

  it("is the identity alone: nothing of the credential is kept", async () => {
    expect(await loginWith().ask("/threads", { method: "POST", headers: bearer })).toEqual({
      identity: "ana",
      permissions: ["own"],
    });
  });

  it("of this process acts for the owner it names, with all rights, and is not guarded", async () => {
    const { ask, mayRead } = loginWith();
    expect(await ask(`/threads/${THREAD}/commands`, { headers: loopbackHeaders("eva") })).toEqual({
      identity: "eva",
      permissions: ["own", "raw"],
    });
    expect(mayRead).not.toHaveBeenCalled();
  });

  it("in open mode has all rights", async () => {
    expect((await loginWith({ isOpen: true, owner: "local" }).ask("/threads")).permissions).toEqual([
      "own",
      "raw",
    ]);
  });

  it.each(["commands", "%63ommands", "stream/events"])(
    "to %s of another's thread says that there is none",
    async (end) => {
      await expect(
        loginWith().ask(`/threads/${THREAD}/${end}`, { method: "POST", headers: bearer }),
      ).rejects.toMatchObject({
        code: "session_not_yours",
      });
    },
  );

  it.each([`/runs/${THREAD}/stream`, `/runs/${THREAD}/%73tream`, "/a/route/of/a/later/version"])(
    "to %s says that there is none, whoever asks",
    async (path) => {
      await expect(loginWith().ask(path, { headers: bearer })).rejects.toMatchObject({
        code: "session_not_yours",
      });
    },
  );
});
