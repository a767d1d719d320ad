/** `/units`: what this conversation has noted of what was said, as the person reads it, takes it along and brings it in. */
import { done, envelopeOf, refused, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { counted, markdownTable } from "#src/kernel/markdown.ts";
import { entryOf } from "#src/sessions/chain.ts";
import {
  claimKey,
  placeOf,
  UNIT_PHASES,
  unitsAfter,
  wholeUnit,
  type HeldUnit,
  type KnowledgeUnit,
} from "#src/sessions/knowledge-units.ts";
import { parseUnits, printUnits, type ReadUnit, type UnitTextProblem } from "#src/sessions/unit-text.ts";
import type { CommandContext, CommandOutcome, PlainCommand } from "../command.ts";
import { firstWord, usageEnvelope } from "../parse-command.ts";
import { pathOf } from "./memory/memory-action.ts";

const USAGE = "/units [list], /units export [path], /units import <path or text>, /units drop <unit>";

export const unitsCommand: PlainCommand = {
  kind: "plain",
  name: "units",
  summary: "List what was noted of this conversation, drop some of it, write it out or read it in",
  usage: USAGE,
  effects: ["reads", "session"],
  onlyReads: (args) => !["import", "drop"].includes(firstWord(args).word.toLowerCase()),
  async run(args, context) {
    const { word, rest } = firstWord(args);
    switch (word.toLowerCase()) {
      case "":
      case "list":
        return { envelope: listed(context) };
      case "export":
        return told(async () => ({ envelope: await exported(rest, context) }));
      case "import":
        return told(() => imported(rest, context));
      case "drop":
        return dropped(rest, context);
      default:
        return { envelope: usageEnvelope(`there is no /units ${word}`, USAGE) };
    }
  },
};

async function told(action: () => Promise<CommandOutcome>): Promise<CommandOutcome> {
  try {
    return await action();
  } catch (error) {
    if (isLilyError(error)) return { envelope: envelopeOf(error) };
    throw error;
  }
}

/** By which a unit is named: its turn and its number there, behind the session where that is another one. */
function nameOf({ sessionId, turn, n }: HeldUnit, { chain }: CommandContext): string {
  const ordinal = sessionId === undefined ? undefined : entryOf(chain, sessionId)?.ordinal;
  return `${ordinal === undefined ? "" : `${ordinal}/`}${turn}.${n}`;
}

function listed(context: CommandContext): Envelope {
  const { units = [], sessionId } = context.session;
  const message =
    units.length === 0
      ? "Nothing is noted of this conversation."
      : `${counted(units.length, "knowledge unit")} of this conversation.`;
  return done("units", message, {
    next:
      units.length === 0
        ? "What you say is noted as you say it; units.extract in config.json says how."
        : "/units drop <unit> leaves one out; /units export writes them all.",
    data: {
      units: units.map((unit) => ({
        ...wholeUnit(unit, sessionId),
        name: nameOf(unit, context),
        ...placeOf(unit),
      })),
    },
    body: markdownTable(
      ["unit", "role", "topic", "claim", "said in"],
      units.map((unit) => [nameOf(unit, context), unit.role, unit.topic, unit.claim, `turn ${unit.turn}`]),
    ),
  });
}

async function exported(path: string, { session, files }: CommandContext): Promise<Envelope> {
  const { units = [], sessionId } = session;
  const text = printUnits(units.map((unit) => wholeUnit(unit, sessionId)));
  const what = counted(units.length, "knowledge unit");
  if (path === "") {
    const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length + 1)));
    return done(
      "units_exported",
      units.length === 0 ? "Nothing is noted of this conversation." : `${what}:`,
      {
        next: "/units import <path or text> reads them; /units export <path> writes them to a file.",
        data: { units: units.length, text },
        ...(text === "" ? {} : { body: `${fence}text\n${text}${fence}` }),
      },
    );
  }
  if (files === undefined) return noFiles();
  const written = await files.write(pathOf(path), text);
  return done("units_exported", `${what} written to ${written}.`, {
    next: "/units import <path> reads it, here or elsewhere; the file is not encrypted.",
    data: { units: units.length, path: written },
  });
}

function noFiles(): Envelope {
  return refused("files_unavailable", "files are read and written in the terminal alone", {
    next: "/units export shows the text, and /units import takes it behind the command.",
  });
}

/** What became of what was read. */
interface Taken {
  readonly units: readonly KnowledgeUnit[];
  readonly known: number;
  readonly problems: readonly UnitTextProblem[];
}

async function imported(args: string, context: CommandContext): Promise<CommandOutcome> {
  const { files, session } = context;
  if (args === "") return { envelope: usageEnvelope("which file, or which text?", USAGE) };
  const isText = args.startsWith("@") || args.startsWith("#");
  if (!isText && files === undefined) return { envelope: noFiles() };
  const text = isText ? args : ((await files?.read(pathOf(args))) ?? "");
  const read = parseUnits(text);
  const { units, known, problems } = await taken(read, context);
  const after = unitsAfter(session.units, { turn: session.turns + 1, units }) ?? [];
  const pushedOut = (session.units?.length ?? 0) + units.length - after.length;
  const lines = problems.map(({ line, problem }) => `line ${line}: ${problem}`);
  const message = [
    `${counted(units.length, "knowledge unit")} came in`,
    ...(known === 0 ? [] : [`${counted(known, "claim")} had been noted already`]),
    ...(pushedOut === 0 ? [] : [`${counted(pushedOut, "unit")} had to go, for there is room for no more`]),
    ...(lines.length === 0
      ? []
      : [`${counted(lines.length, "problem")}: ${lines.slice(0, SHOWN).join("; ")}`]),
  ].join("; ");
  const data = { imported: units.length, known, pushedOut, problems: problems.map((one) => ({ ...one })) };
  if (units.length === 0 && known === 0)
    return {
      envelope: refused("command_usage", lines.length === 0 ? "there is no knowledge unit in it" : message, {
        next: 'A unit is written as /units export writes it: @k1 ku atomic "id", then its fields. Nothing was changed.',
        data,
      }),
    };
  const envelope = done("units_imported", `${message}.`, { next: "/units lists them.", data });
  return units.length === 0 ? { envelope } : { envelope, units, isCommitted: true };
}

/** Problems that are told in the message; all are in its data. */
const SHOWN = 20;

/** Longest claim that can be given in a prompt beside others. */
const MAX_CLAIM = 500;

/** What may come in: what is not noted, no secret, and no id that stands for another claim. */
async function taken(
  { units, problems }: ReturnType<typeof parseUnits>,
  context: CommandContext,
): Promise<Taken> {
  const { sessionId, units: held = [] } = context.session;
  const claims = new Set(held.map(({ claim }) => claimKey(claim)));
  const ids = new Set(held.map((unit) => wholeUnit(unit, sessionId).id));
  const came: KnowledgeUnit[] = [];
  const refusals: UnitTextProblem[] = [];
  let known = 0;
  for (const { unit, line } of units) {
    const key = claimKey(unit.claim);
    const problem = claims.has(key) ? undefined : await objectionTo({ unit, line }, ids, context);
    if (claims.has(key)) known += 1;
    else if (problem !== undefined) refusals.push({ line, problem });
    else {
      came.push(shortened(unit));
      claims.add(key);
      ids.add(unit.id);
    }
  }
  return { units: came, known, problems: [...problems, ...refusals].toSorted((a, b) => a.line - b.line) };
}

async function objectionTo(
  { unit }: ReadUnit,
  ids: ReadonlySet<string>,
  { gate }: CommandContext,
): Promise<string | undefined> {
  if (ids.has(unit.id)) return "its id stands for another claim";
  if (unit.claim.length + unit.topic.length > MAX_CLAIM)
    return `claim and topic have more than ${MAX_CLAIM} characters`;
  const verdict = await gate(`${unit.topic} ${unit.claim}`.trim());
  return verdict.action === "allow"
    ? undefined
    : `not noted (rule ${verdict.action === "deny" ? verdict.denial.rule : verdict.rule})`;
}

/** Without what holds anyway. */
function shortened({
  utilityActs = [],
  phaseScopes = [...UNIT_PHASES],
  ...unit
}: KnowledgeUnit): KnowledgeUnit {
  const isEverywhere =
    UNIT_PHASES.every((phase, index) => phaseScopes[index] === phase) &&
    phaseScopes.length === UNIT_PHASES.length;
  return {
    ...unit,
    ...(utilityActs.length === 0 ? {} : { utilityActs }),
    ...(isEverywhere ? {} : { phaseScopes }),
  };
}

function dropped(args: string, context: CommandContext): CommandOutcome {
  const unit = context.session.units?.find((one) => nameOf(one, context) === args);
  if (unit === undefined)
    return {
      envelope: refused("command_usage", args === "" ? "which unit?" : `there is no unit ${args}`, {
        next: "/units lists them, with their names. Nothing was changed.",
      }),
    };
  return {
    envelope: done(
      "unit_dropped",
      `${args} is not used any more: “${unit.claim}”. What was said stays in the conversation.`,
      {
        data: { unit: args },
      },
    ),
    changes: { unitsDropped: [placeOf(unit)] },
  };
}
