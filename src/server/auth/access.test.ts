import { describe, expect, it } from "vitest";
import { decideAccess, type AccessFilter, nobody, trustedLogin, userLogin } from "./access.ts";

const ana = userLogin("ana");
const trusted = trustedLogin("ana");

const ask = (event: string, value: unknown, { identity, permissions } = ana): AccessFilter =>
  decideAccess({ event, value, user: { identity }, permissions });

const THREAD_EVENTS = ["create", "read", "update", "delete", "search", "create_run"].map(
  (name) => `threads:${name}`,
);

describe("threads and runs", () => {
  it.each(THREAD_EVENTS)("%s is for the owner's own", (event) => {
    expect(ask(event, { metadata: {} })).toEqual({ owner: "ana" });
    expect(ask(event, { metadata: {} }, trusted)).toEqual({ owner: "ana" });
  });

  it.each(["threads:create", "threads:update", "threads:create_run"])(
    "%s stores the owner who asks",
    (event) => {
      for (const metadata of [undefined, null, {}, { owner: "ben", colour: "red" }, ["ben"]]) {
        const value = { metadata };
        ask(event, value);
        expect(value.metadata).toMatchObject({ owner: "ana" });
      }
      const kept = { metadata: { colour: "red", owner: "ben" } };
      ask(event, kept);
      expect(kept.metadata).toEqual({ colour: "red", owner: "ana" });
    },
  );

  it.each(["threads:read", "threads:search", "threads:delete"])(
    "%s leaves the question as it is",
    (event) => {
      const value = { thread_id: "t", metadata: { colour: "red" } };
      ask(event, value);
      expect(value).toEqual({ thread_id: "t", metadata: { colour: "red" } });
    },
  );
});

describe("what goes past the graph", () => {
  it.each<[string, string, unknown]>([
    ["writing the state", "threads:update", { thread_id: "t" }],
    ["an update by a command", "threads:create_run", { kwargs: { command: { update: {} } } }],
    ["a jump by a command", "threads:create_run", { kwargs: { command: { goto: "commit" } } }],
    ["an update beside an answer", "threads:create_run", { kwargs: { command: { resume: 1, update: [] } } }],
    ["a command that is no object", "threads:create_run", { kwargs: { command: ["update"] } }],
    ["a webhook", "threads:create_run", { kwargs: { webhook: "http://10.0.0.1/" } }],
    ["a blank webhook", "threads:create_run", { kwargs: { webhook: "" } }],
    ...["put", "get", "search", "delete", "list_namespaces"].map((name): [string, string, unknown] => [
      `store ${name}`,
      `store:${name}`,
      { namespace: ["sessions", "ana"] },
    ]),
  ])("is for the process itself: %s", (_name, event, value) => {
    expect(() => ask(event, structuredClone(value))).toThrow(expect.objectContaining({ code: "forbidden" }));
    expect(() => ask(event, structuredClone(value), trusted)).not.toThrow();
  });

  it.each<[string, unknown]>([
    ["no command", { command: undefined, webhook: undefined }],
    ["null", { command: null, webhook: null }],
    ["an answer", { command: { resume: { approved: true } } }],
    ["an answer with blanks", { command: { resume: 1, update: null, goto: null } }],
  ])("is not a run with %s", (_name, kwargs) => {
    expect(ask("threads:create_run", { kwargs })).toEqual({ owner: "ana" });
  });
});

describe("everything else", () => {
  it.each(["assistants:read", "assistants:search"])("%s is for everybody with a login", (event) => {
    expect(ask(event, {})).toBeUndefined();
  });

  it.each([
    ...["create", "update", "delete"].map((name) => `assistants:${name}`),
    ...["create", "read", "update", "delete", "search"].map((name) => `crons:${name}`),
    "something:new",
  ])("%s is for nobody", (event) => {
    for (const login of [ana, trusted])
      expect(() => ask(event, {}, login)).toThrow(expect.objectContaining({ code: "forbidden" }));
  });

  it.each([...THREAD_EVENTS, "assistants:read", "store:get"])("%s needs a login", (event) => {
    expect(() => ask(event, { metadata: {} }, nobody())).toThrow("this needs a login");
  });

  it("an owner who is named as nobody is has a login all the same", () => {
    expect(ask("threads:read", {}, userLogin(nobody().identity))).toEqual({ owner: "anonymous" });
  });
});
