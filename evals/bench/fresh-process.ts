/** A process of its own that opens a folder, reads where a conversation stands and answers one message; prints its times. */
import Database from "better-sqlite3";
import { z } from "zod";
import { benchmarkText } from "./benchmark-text.ts";
import { liveMemory } from "./collect-garbage.ts";
import type { FreshTimes } from "./fresh-times.ts";
import type { Subject } from "./subject.ts";

const argumentsSchema = z.tuple([
  z.enum(["lily", "plain", "floor"]),
  z.string(),
  z.string(),
  z.enum(["open", "only-import"]),
]);

const [name, folder, conversation, mode] = argumentsSchema.parse(process.argv.slice(2));

/** Loads all that the subject will load, also what it would load when it is opened. */
async function load(): Promise<() => Promise<Subject>> {
  const options = { usesTools: false };
  // Loads the native part.
  new Database(":memory:").close();
  if (name === "lily") {
    const { EVENING, openLilySubject } = await import("./lily-subject.ts");
    return () => openLilySubject(folder, { ...options, now: EVENING });
  }
  const { openFloorSubject, openPlainSubject } = await import("./plain-subject.ts");
  return async () => (name === "plain" ? openPlainSubject(folder, options) : openFloorSubject(options));
}

async function openAndAnswer(open: () => Promise<Subject>): Promise<Omit<FreshTimes, "importedMs">> {
  const startedMs = performance.now();
  const subject = await open();
  const openedMs = performance.now();
  await subject.readState(conversation);
  const readMs = performance.now();
  await subject.turn(conversation, benchmarkText(0, "question after a pause"));
  const answeredMs = performance.now();
  const memory = liveMemory();
  await subject.close();
  return {
    openMs: openedMs - startedMs,
    readMs: readMs - openedMs,
    answerMs: answeredMs - readMs,
    ...memory,
  };
}

const open = await load();
// Since the process began.
const importedMs = performance.now();
const times =
  mode === "open" ? await openAndAnswer(open) : { openMs: 0, readMs: 0, answerMs: 0, ...liveMemory() };
console.log(JSON.stringify({ importedMs, ...times }));
