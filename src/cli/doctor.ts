/** `lily doctor`: examines what is stored, with `--repair` makes anew what can be, or examines the model with `--model`. */
import { join } from "node:path";
import { createAgentFiles } from "#src/agents/agent-files.ts";
import { loadConfig, type LoadedConfig } from "#src/app/config.ts";
import { loadPlugins } from "#src/app/load-plugins.ts";
import { systemClock, timeZoneProblem } from "#src/app/system.ts";
import { done, type Envelope, refused } from "#src/kernel/envelope.ts";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { createOpenAIChatModels, openAISettingsOf } from "#src/models/openai-chat-models.ts";
import { defaultModelReference } from "#src/models/model-reference.ts";
import { counted } from "#src/kernel/markdown.ts";
import { type Check, fine, orRow, sizeText, someOf, warning, wrong } from "#src/upkeep/check.ts";
import { checkConversations } from "#src/upkeep/conversations.ts";
import { type Examination, examineHome, repair, type RepairStep } from "#src/upkeep/examine-home.ts";
import { BACKUPS, stampOf } from "#src/upkeep/home.ts";
import type { CliContext } from "./context.ts";
import { examineModel } from "./examine-model.ts";
import { printableLine } from "./printable.ts";
import { table } from "./render/table.ts";
import { type Screen, screenOf } from "./screen.ts";
import { progressOn, tell } from "./tell.ts";
import { assertHome, configOrDefault, homeOf } from "./upkeep-home.ts";

/** What is asked of the doctor. */
export interface DoctorRequest {
  readonly repair: boolean;
  /** A model instead of what is stored: the configured one, or the one of a reference. */
  readonly model?: boolean | string;
}

/** What the doctor found, and what it did about it. */
interface Findings extends Examination {
  readonly repairs: readonly RepairStep[];
}

/**
 * Examines, repairs if it is asked to, and examines again. Returns the exit code of the gravest finding.
 *
 * @param program version of the program, for the backup before a repair
 */
export async function doctor(
  context: CliContext,
  { repair: repairs, model = false }: DoctorRequest,
  program: string,
): Promise<number> {
  const findings =
    model === false
      ? await examine(context, repairs, program)
      : { checks: await examineAsked(context, model), usage: [], repairs: [] };
  const screen = screenOf(context.stdout, context.env);
  const tables = [renderChecks(findings.checks, screen), ...renderRest(findings, screen)];
  return tell(context, envelopeOf(findings), tables);
}

/** A model is asked for real: a few hundred tokens. */
async function examineAsked({ env, cwd }: CliContext, asked: string | true): Promise<Check[]> {
  const { agents } = loadConfig(env, cwd).config;
  const reference = asked === true ? defaultModelReference(env, agents["defaults"]?.model) : asked;
  if (reference === "symbolic") {
    throw new LilyError("config_invalid", "no model is configured, so there is none to examine", {
      next: "Put OPENAI_API_KEY or OPENAI_BASE_URL into .env.",
    });
  }
  const models = createOpenAIChatModels(openAISettingsOf(env));
  return [fine("model", reference), ...(await examineModel(models, reference))];
}

async function examine(context: CliContext, repairs: boolean, program: string): Promise<Findings> {
  const loaded = configOrDefault(context);
  const problems = [
    ...checkConfiguration(loaded, context.env["TZ"]),
    ...(await orRow("persona and skills", () => checkAgents(loaded))),
    ...(await orRow("plugins", () => checkPlugins(loaded))),
  ];
  const home = homeOf(loaded.home, loaded);
  const clock = systemClock();
  const { backend } = loaded.config.storage;
  if (backend === "sqlite") assertHome(home.folder);
  const look = async (): Promise<Examination> => {
    const { checks, usage } = await (backend === "sqlite"
      ? examineHome(home, clock)
      : examineBackend(context, backend, repairs));
    return { checks: [...problems, ...checks], usage };
  };
  const first = await look();
  if (!repairs) return { ...first, repairs: [] };
  const folder = join(home.folder, BACKUPS, stampOf(clock.now()));
  const steps = await repair({ home, folder, program, clock, onProgress: progressOn(context) }, first.checks);
  return { ...(await look()), repairs: steps };
}

function checkConfiguration(
  { config: { timeZone }, error }: ReturnType<typeof configOrDefault>,
  TZ: string | undefined,
): Check[] {
  if (error !== undefined) {
    const found = `${errorMessage(error)}; the files are looked for where they are by default`;
    const next = "Correct it, or take it from a backup.";
    return [wrong("configuration", found, { code: "config_invalid", next })];
  }
  const problem = timeZone === undefined ? timeZoneProblem(TZ) : undefined;
  const next = "Set TZ to a name such as Europe/Paris, or timeZone in config.json.";
  return problem === undefined ? [] : [warning("time zone", problem, next)];
}

/** Plugins that are left out. Loading them runs their files, as each program does. */
async function checkPlugins(loaded: LoadedConfig): Promise<Check[]> {
  const next = "Correct the file, or take it out of plugins in config.json.";
  const { problems } = await loadPlugins(loaded);
  return problems.map(({ path, reason }) => warning("plugins", `${path} is left out: ${reason}`, next));
}

/** What of the files of agents is left out, which sessions tell when they begin. */
async function checkAgents(loaded: LoadedConfig): Promise<Check[]> {
  const files = createAgentFiles({ ...loaded, bundled: "", defaultAgent: "lily" });
  const { names, problems } = await files.agents();
  const personas = await Promise.all(
    ["lily", ...names].map((name) => files.persona(name, { ofOwner: true })),
  );
  const skills = await files.skills();
  const all = [...problems, ...personas.flatMap((persona) => persona.problems), ...skills.problems];
  const found = all.filter(({ isMeant }) => isMeant !== true);
  if (found.length === 0) return [];
  const told = someOf(found.map(({ source, reason }) => `${source} ${reason}`));
  return [warning("persona and skills", told, "Correct it; until then sessions begin without it.")];
}

/** Refuses what cannot be examined there, or not repaired. */
async function examineBackend(
  { env, cwd }: CliContext,
  backend: "postgres" | "memory",
  repairs: boolean,
): Promise<Examination> {
  if (backend === "memory")
    throw new LilyError("upkeep_unsupported", "storage.backend is memory, which keeps nothing to examine");
  if (repairs)
    throw new LilyError(
      "upkeep_unsupported",
      "on PostgreSQL, repairs are the work of the server's own tools",
      { next: "lily doctor without --repair examines the conversations." },
    );
  const { openApp } = await import("#src/app/open-app.ts");
  const { storage } = await openApp(env, cwd);
  try {
    return { checks: await orRow("conversations", () => checkConversations(storage.store)), usage: [] };
  } finally {
    await storage.close();
  }
}

function envelopeOf({ checks, usage, repairs }: Findings): Envelope {
  const data = { checks, usage, repairs };
  const bad = checks.filter(({ state }) => state === "bad");
  const [first] = bad;
  if (first !== undefined) {
    const message = `${counted(bad.length, "thing")} wrong, the first: ${first.found}`;
    const { code = "doctor_failed", next } = first;
    return refused(code, message, { data, ...(next === undefined ? {} : { next }) });
  }
  const failed = repairs.filter(({ state }) => state === "failed");
  if (failed.length > 0) {
    const message = `${counted(failed.length, "repair")} failed: ${failed[0]?.did ?? ""}`;
    return refused("doctor_failed", message, { data });
  }
  const better = checks.filter(({ state }) => state === "warn").length;
  const rest =
    better === 0 ? "everything is in order" : `nothing is lost, ${counted(better, "thing")} could be better`;
  return done("examined", `${counted(checks.length, "check")} made: ${rest}.`, { data });
}

/** One check a line. */
export function renderChecks(checks: readonly Check[], screen: Screen): string {
  const { green, yellow, red } = screen.paint;
  const paint = { ok: green, warn: yellow, bad: red };
  const rows = checks.map(({ check, state, found, next = "" }) => [
    check,
    paint[state](state),
    printableLine(found),
    printableLine(next),
  ]);
  return table({ head: ["check", "state", "found", "what to do"], rows }, screen);
}

/** What is kept, a kind a line, with their sum; and what was repaired. */
function renderRest({ usage, repairs }: Findings, screen: Screen): string[] {
  const kinds = usage.map(({ kind, count, bytes }) => [kind, String(count ?? ""), sizeText(bytes)]);
  const total = usage.reduce((sum, { bytes }) => sum + bytes, 0);
  if (kinds.length > 0) kinds.push(["together", "", sizeText(total)]);
  const steps = repairs.map(({ item, state, did }) => [item, state, printableLine(did)]);
  return [
    table({ head: ["on disk", "count", "size"], rows: kinds }, screen),
    table({ head: ["repair", "state", "what was done"], rows: steps }, screen),
  ];
}
