import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { installLibrary } from "./testing/packed-library.ts";

/** What a stranger writes; plain JavaScript, by the names that the README gives. */
const PROGRAM = `
import { createMemory, createSession, openLily, openSqliteStore, replyText, ROLES } from "lily";

const session = createSession();
session.addMessage({ role: ROLES.user, content: "hello", timestamp: new Date().toISOString() });

const lily = await openLily({ home: "home" });
const said = { owner: lily.owner, sessionKey: "app:main" };
await lily.send({ ...said, content: "my flight is BA117" });
const reply = await lily.send({ ...said, content: "what is my flight?" });
await lily.memory.remember({ owner: lily.owner }, { text: "I am vegetarian", saidBy: "owner", source: "command" });
const state = await lily.graph.getState({ configurable: { thread_id: reply.sessionId } });
await lily.close();

const { store, close } = openSqliteStore("own.sqlite");
await createMemory(store).remember({ owner: "anna" }, { text: "I like tea", saidBy: "owner", source: "command" });
const shown = await createMemory(store).show({ owner: "anna" });
close();

console.log(JSON.stringify({
  id: session.id(), messages: session.messages().length, reply: replyText(reply.envelope),
  turns: state.values.session.turns, facts: shown.records.map(({ text }) => text),
}));
`;

it("the packed library is used by plain Node, in an empty folder, without tsx", () => {
  const app = installLibrary({ types: false });
  onTestFinished(() => rmSync(app, { recursive: true, force: true }));
  writeFileSync(join(app, "app.js"), PROGRAM);
  const env = { PATH: process.env["PATH"] ?? "", HOME: app };
  const said: unknown = JSON.parse(
    execFileSync(process.execPath, ["app.js"], { cwd: app, env, encoding: "utf8" }),
  );
  expect(said).toEqual({
    id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/u),
    messages: 1,
    reply: expect.stringContaining("my flight is BA117"),
    turns: 2,
    facts: ["I like tea"],
  });
  expect(existsSync(join(app, "home", "memory", "store.sqlite"))).toBe(true);
});
