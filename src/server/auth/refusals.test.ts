import { expect, it, vi } from "vitest";
import { LilyError } from "#src/kernel/errors.ts";

import { answerFor, forbidden, unauthenticated } from "./refusals.ts";

it("a refusal is answered with its status and its envelope", () => {
  const report = vi.fn<(text: string) => void>();
  const answer = answerFor(forbidden("no", "Ask."), report);
  expect([answer.status, JSON.parse(answer.message)]).toEqual([
    403,
    { ok: false, code: "forbidden", message: "no", next: "Ask." },
  ]);
  expect(new Headers(answer.headers).get("content-type")).toBe("application/json");
  expect(report).not.toHaveBeenCalled();
});

it("a missing login is answered with how to log in", () => {
  const answer = answerFor(unauthenticated(), () => undefined);
  expect([answer.status, new Headers(answer.headers).get("www-authenticate")]).toEqual([401, "Bearer"]);
});

it.each([
  new LilyError("config_invalid", "/home/ana/api-keys.json is not a list of keys"),
  new TypeError("/home/ana/x"),
  "/home/ana",
])("what is wrong with the server is for its log, not for whoever asks: %s", (error) => {
  const report = vi.fn<(text: string) => void>();
  const answer = answerFor(error, report);
  expect([answer.status, JSON.parse(answer.message)]).toMatchObject([500, { ok: false, code: "internal" }]);
  expect(answer.message).not.toContain("/home");
  expect(report).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("/home/ana"));
});
