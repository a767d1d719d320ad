/** `lily doctor`: examines everything that is stored, and with `--repair` puts in order what can be. */
import { join } from "node:path";
import { loadConfig } from "#src/app/config.ts";
import { systemClock } from "#src/app/system.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { counted, gravest, wrong, type Check } from "#src/upkeep/check.ts";
import { examineHome, type Examination } from "#src/upkeep/examine-home.ts";
import { examineStore } from "#src/upkeep/examine-store.ts";
import { BACKUPS } from "#src/upkeep/home-files.ts";
import { stampOf } from "#src/upkeep/home.ts";
import { repair, type RepairStep } from "#src/upkeep/repair.ts";
import type { CliContext, CliOptions } from "./context.ts";
import { renderChecks, renderRepairs, renderUsage } from "./render/upkeep-tables.ts";
import { screenOf } from "./screen.ts";
import { progressOn, tell } from "./tell.ts";
import { anyHome, assertHome } from "./upkeep-home.ts";
import { reportError } from "./with-engine.ts";

/** What is asked of the doctor. */
export interface DoctorRequest {
  readonly repair: boolean;
  /** Version of the program, for the backup before a repair. */
  readonly program: string;
}

/** What the doctor found, and what it did about it. */
interface Findings extends Examination {
  readonly repairs: readonly RepairStep[];
}

/** Examines, repairs if it is asked to, and examines again. Returns the exit code of the gravest finding. */
export async function doctor(
  context: CliContext,
  options: CliOptions,
  request: DoctorRequest,
): Promise<number> {
  try {
    const findings = await examine(context, options, request);
    const screen = screenOf(context.stdout, context.env);
    const tables = [
      renderChecks(findings.checks, screen),
      renderUsage(findings.usage, screen),
      renderRepairs(findings.repairs, screen),
    ];
    return tell(context, options, { envelope: envelopeOf(findings), tables });
  } catch (error) {
    return reportError(error, context, options);
  }
}

async function examine(context: CliContext, options: CliOptions, request: DoctorRequest): Promise<Findings> {
  const configuration = configurationOf(context);
  if (configuration.backend !== "sqlite") return examineBackend(context, configuration.backend, request);
  const home = anyHome(context);
  assertHome(home.folder);
  const clock = systemClock();
  const first = await examineHome(home, clock);
  const { problem } = configuration;
  const checks = problem === undefined ? first.checks : [problem, ...first.checks];
  if (!request.repair) return { ...first, checks, repairs: [] };
  const folder = join(home.folder, BACKUPS, stampOf(clock.now()));
  const { program } = request;
  const onProgress = progressOn(context, options);
  const repairs = await repair({ home, folder, program, clock, onProgress }, checks);
  const after = await examineHome(home, clock);
  return { ...after, checks: problem === undefined ? after.checks : [problem, ...after.checks], repairs };
}

function configurationOf({ env, cwd }: CliContext): {
  readonly backend: "sqlite" | "postgres" | "memory";
  readonly problem?: Check;
} {
  try {
    return { backend: loadConfig(env, cwd).config.storage.backend };
  } catch (error) {
    const found = `${errorMessage(error)}; the files are looked for where they are by default`;
    const next = "Correct it, or take it from a backup.";
    return { backend: "sqlite", problem: wrong("configuration", found, { code: "config_invalid", next }) };
  }
}

async function examineBackend(
  { env, cwd }: CliContext,
  backend: "postgres" | "memory",
  request: DoctorRequest,
): Promise<Findings> {
  if (backend === "memory") {
    throw new LilyError("upkeep_unsupported", "storage.backend is memory, which keeps nothing to examine");
  }
  if (request.repair) {
    throw new LilyError(
      "upkeep_unsupported",
      "on PostgreSQL, repairs are the work of the server's own tools",
      {
        next: "lily doctor without --repair examines the conversations.",
      },
    );
  }
  const { openApp } = await import("#src/app/open-app.ts");
  const { storage } = await openApp(env, cwd);
  try {
    return { checks: await examineStore(storage.store), usage: [], repairs: [] };
  } finally {
    await storage.close();
  }
}

function envelopeOf({ checks, usage, repairs }: Findings): Envelope {
  const data = { checks, usage, repairs };
  const count = (state: Check["state"]): number => checks.filter((check) => check.state === state).length;
  const [bad, warnings] = [count("bad"), count("warn")];
  const worst = gravest(checks);
  if (worst?.state === "bad") {
    const message = `${counted(bad, "thing")} wrong, the first: ${worst.found}`;
    const next = worst.next === undefined ? {} : { next: worst.next };
    return refused(worst.code ?? "doctor_failed", message, { data, ...next });
  }
  const failed = repairs.filter(({ state }) => state === "failed");
  if (failed.length > 0) {
    return refused("doctor_failed", `${counted(failed.length, "repair")} failed: ${failed[0]?.did ?? ""}`, {
      data,
    });
  }
  const what = `${counted(checks.length, "check")} made`;
  if (warnings === 0) return done("examined", `${what}: everything is in order.`, { data });
  return done("examined", `${what}: nothing is lost, ${counted(warnings, "thing")} could be better.`, {
    data,
  });
}
