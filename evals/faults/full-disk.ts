/** A disk that is really full: SQLite may not add a page to either file, from some page of a conversation on. */
import type { Database } from "better-sqlite3";
import { createGate } from "./gate.ts";
import { goOn } from "./recover.ts";
import { copyOf, openPart, prepare, removeFolder } from "./run-scenario.ts";
import { clockOf, type Scenario } from "./scenarios.ts";
import { watchStatements } from "./sql-statements.ts";
import { isAcknowledged, type Subject } from "./subject.ts";
import { commandFor, type Violation } from "./violation.ts";

/** Pages that are still free when the message comes: from none to more than it takes. */
const FREE_PAGES = [0, 1, 2, 4, 8, 16];
/** The message is long, so that it needs pages. */
const LONG_TEXT = ` ${"word ".repeat(4000)}`;
/** Behind a command too; what `/title` takes is short. */
const LONG_BLANK = " ".repeat(20_000);
const NO_LIMIT = 1_073_741_823;
const LEASE_MS = 60_000;

/** Runs a scenario with a long message on disks that have less and less room. */
export async function fillTheDisk(scenario: Scenario): Promise<{ violations: Violation[]; failed: number }> {
  const { text } = scenario.act;
  const padding = text.startsWith("/title") ? LONG_BLANK : LONG_TEXT;
  const long = { ...scenario, act: { ...scenario.act, text: text + padding } };
  const template = await prepare(scenario);
  const violations: Violation[] = [];
  let failed = 0;
  for (const pages of FREE_PAGES) {
    const folder = copyOf(template);
    const found = await fill(long, { folder, pages });
    removeFolder(folder);
    if (found.hasFailed) failed += 1;
    if (found.problems.length === 0) continue;
    const again = commandFor(scenario.name, "--disk");
    violations.push({
      subject: scenario.name,
      fault: `${pages} free pages`,
      problems: found.problems,
      again,
    });
  }
  removeFolder(template);
  return { violations, failed };
}

async function fill(
  scenario: Scenario,
  { folder, pages }: { readonly folder: string; readonly pages: number },
): Promise<{ problems: string[]; hasFailed: boolean }> {
  const connections = new Set<Database>();
  const limit = (free: number): void => {
    for (const db of connections) {
      const count = db.pragma("page_count", { simple: true });
      db.pragma(`max_page_count = ${free === Infinity ? NO_LIMIT : Number(count) + free}`);
    }
  };
  // The first write of the lock names the store, that of the checkpoint its file; both come before the message is kept.
  const unwatch = watchStatements(createGate(), (db) => {
    if (connections.has(db)) return;
    connections.add(db);
    limit(pages);
  });
  const leaseClock = clockOf(scenario, "act");
  const subject: Subject = openPart(scenario, "act", folder, { leaseClock });
  try {
    const reply = await subject.send(scenario.act);
    await subject.sessions.settled();
    limit(Infinity);
    leaseClock.advance(LEASE_MS);
    const acknowledged = isAcknowledged(reply);
    const isPlain = acknowledged || scenario.actFails === true || reply.envelope.code === "storage_full";
    const going = { folder, scenario, acknowledged };
    const problems = await goOn(subject, { ...going, recovery: "again-first" });
    return {
      problems: [
        ...(isPlain ? [] : [`it is told as ${reply.envelope.code}: ${reply.envelope.message}`]),
        ...problems,
      ],
      hasFailed: !acknowledged,
    };
  } catch (error) {
    return { problems: [`it was thrown: ${String(error)}`], hasFailed: true };
  } finally {
    unwatch();
    await subject.close();
  }
}
