/** Types are made from the whole program, which takes longer than many tests together. */
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { it, onTestFinished } from "vitest";
import { installLibrary } from "./testing/packed-library.ts";

/** What a stranger writes in TypeScript, as far as types matter. */
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

it("the packed library brings types along", () => {
  const app = installLibrary({ types: true });
  onTestFinished(() => rmSync(app, { recursive: true, force: true }));
  writeFileSync(join(app, "app.ts"), TYPED);
  const tsc = resolve("node_modules", "typescript", "bin", "tsc");
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--skipLibCheck"];
  execFileSync(process.execPath, [tsc, ...options, "app.ts"], { cwd: app, encoding: "utf8" });
});
