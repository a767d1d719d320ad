/** The work on a whole home folder that is broken at every call: what is there before, the work, what holds after it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { erase } from "#src/erasure/erase.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { backUp } from "#src/upkeep/back-up.ts";
import { examineHome } from "#src/upkeep/examine-home.ts";
import { BACKUPS, type DatabasePaths, type Home } from "#src/upkeep/home.ts";
import { repair } from "#src/upkeep/repair.ts";
import { clockOf, leaseClockAfter, type Scenario } from "./scenarios.ts";
import { openPart } from "./run-scenario.ts";
import { OWNER, type SubjectMessage } from "./subject.ts";

/** One kind of work. */
export interface UpkeepCase {
  readonly name: string;
  readonly title: string;
  /** What is said, and how much of it is there after the work, at any moment of it. */
  readonly scenario: Scenario;
  /** Makes of a home in which that was said the one that is worked on. */
  readonly prepare?: (folder: string) => Promise<void>;
  /** The work. `attempt` counts from 1: it is begun again after a crash. */
  readonly work: (folder: string, attempt: number) => Promise<void>;
  /** Everything goes: what a crash leaves of it is no whole conversation until the work is done again. */
  readonly erases?: boolean;
}

const said = (...texts: string[]): SubjectMessage[] =>
  texts.map((text, index) => ({ id: `d${index + 1}`, text }));

function scenarioOf(name: string, before: readonly SubjectMessage[], more: Partial<Scenario> = {}): Scenario {
  const act = { id: "d9", text: "and after that" };
  return { name, title: name, before, act, leaves: "turn", sessions: 1, ...more };
}

/** The files of a home folder as the harness lays them out. */
function databasesIn(folder: string): DatabasePaths {
  return {
    checkpoints: join(folder, "checkpoints", "checkpointer.sqlite"),
    store: join(folder, "memory", "store.sqlite"),
  };
}

/** A folder with its databases. */
export const homeIn = (folder: string): Home => ({ folder, databases: databasesIn(folder) });

const PROGRAM = "0.0.0";
const PLAIN = scenarioOf("upkeep", said("hello", "/remember I drink jasmine tea", "/new", "and more"), {
  sessions: 2,
  facts: 1,
});
const clock = clockOf(PLAIN, "act");

async function eraseAll(folder: string, attempt: number): Promise<void> {
  const { checkpoints, store } = databasesIn(folder);
  const leaseClock = attempt === 1 ? clock : leaseClockAfter(PLAIN);
  const ids = createSequentialIds(100 + attempt);
  const storage = openSqliteBackend({
    checkpointPath: checkpoints,
    storePath: store,
    clock: leaseClock,
  });
  try {
    await erase({ storage, clock, ids }, { owner: OWNER });
  } finally {
    await storage.close();
  }
}

/** Files that version 0.1.0 wrote, in place of those that are there. */
async function becomeOld(folder: string): Promise<void> {
  const packed = new URL("../../graphs/session/testing/home-0.1.0/", import.meta.url);
  for (const path of Object.values(databasesIn(folder))) {
    mkdirSync(dirname(path), { recursive: true });
    const name = path.slice(dirname(path).length + 1);
    writeFileSync(path, gunzipSync(readFileSync(new URL(`${name}.gz`, packed))));
  }
}

/** Everything that works on more than a conversation. */
export const UPKEEP_CASES: readonly UpkeepCase[] = [
  {
    name: "backup",
    title: "a backup",
    scenario: PLAIN,
    work: async (folder, attempt) =>
      void (await backUp({
        home: homeIn(folder),
        folder: join(folder, BACKUPS, `b${attempt}`),
        program: PROGRAM,
        clock,
      })),
  },
  {
    name: "repair",
    title: "a repair by the doctor",
    scenario: PLAIN,
    async work(folder, attempt) {
      const home = homeIn(folder);
      const { checks } = await examineHome(home, clock);
      await repair({ home, folder: join(folder, BACKUPS, `r${attempt}`), program: PROGRAM, clock }, checks);
    },
  },
  {
    name: "erase",
    title: "everything of a person that is erased",
    scenario: scenarioOf("erase", PLAIN.before),
    work: eraseAll,
    erases: true,
  },
  {
    name: "migrate",
    title: "files of an earlier version that are opened",
    scenario: scenarioOf("migrate", []),
    prepare: becomeOld,
    async work(folder) {
      await openPart(PLAIN, "act", folder).close();
    },
  },
];
