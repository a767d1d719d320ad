import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");

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

/** The same in TypeScript, as far as types matter. */
const TYPED = `
import { openLily, type Lily, type Message, type Session, createSession } from "lily";
const session: Session = createSession();
const messages: Message[] = session.messages();
// @ts-expect-error a home folder is needed
const wrong: Promise<Lily> = openLily({});
const lily: Lily = await openLily({ home: "home" });
const { sessionId }: { sessionId: string } = await lily.send({ owner: lily.owner, sessionKey: "k", content: "hi" });
export { messages, sessionId, wrong };
`;

describe("the packed library", () => {
  const app = mkdtempSync(join(tmpdir(), "lily-library-"));

  beforeAll(() => {
    const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", app], {
      cwd: ROOT,
      encoding: "utf8",
    });
    const installed = join(app, "node_modules", "lily");
    mkdirSync(installed, { recursive: true });
    execFileSync("tar", [
      "xzf",
      join(app, packed.trim().split("\n").at(-1) ?? ""),
      "-C",
      installed,
      "--strip-components=1",
    ]);
    linkDependencies(join(app, "node_modules"));
    writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module" }));
  });
  afterAll(() => rmSync(app, { recursive: true, force: true }));

  it("is used by plain Node, in an empty folder, without tsx", () => {
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

  it("brings types along", () => {
    writeFileSync(join(app, "app.ts"), TYPED);
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck"];
    execFileSync(process.execPath, [tsc, ...options, "app.ts"], { cwd: app, encoding: "utf8" });
  });
});

/** What npm would install beside it; tsx, which the terminal program needs, is left out. */
function linkDependencies(target: string): void {
  const from = join(ROOT, "node_modules");
  for (const name of readdirSync(from)) {
    if (name.startsWith(".") || name === "tsx" || name === "lily") continue;
    symlinkSync(join(from, name), join(target, name));
  }
}
