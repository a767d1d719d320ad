/** `/units`: what this conversation has noted of what was said, as the person reads it, takes it along and brings it in. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted, markdownTable } from "#src/kernel/markdown.ts";
import { entryOf } from "#src/sessions/chain.ts";
import {
  claimKey,
  placeOf,
  unitsAfter,
  wholeUnit,
  type HeldUnit,
  type KnowledgeUnit,
} from "#src/sessions/knowledge-units.ts";
import { parseUnits, printUnits, type UnitTextProblem } from "#src/sessions/unit-text.ts";
import { refuse, type CommandContext, type CommandOutcome, type PlainCommand } from "../command.ts";
import { firstWord, refuseUsage } from "../parse-command.ts";
import { filesOf, pathOf } from "./memory/memory-action.ts";

const USAGE = "/units [list], /units export [path], /units import <path or text>, /units drop <unit>";

export const unitsCommand: PlainCommand = {
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
        return listed(context);
      case "export":
        return exported(rest, context);
      case "import":
        return imported(rest, context);
      case "drop":
        return dropped(rest, context);
      default:
        return refuseUsage(`there is no /units ${word}`, USAGE);
    }
  },
};

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

async function exported(path: string, context: CommandContext): Promise<Envelope> {
  const { units = [], sessionId } = context.session;
  const text = printUnits(units.map((unit) => wholeUnit(unit, sessionId)));
  const what = counted(units.length, "knowledge unit");
  const next = "/units import <path or text> reads them, here or elsewhere.";
  if (path === "")
    return done("units_exported", `${what} of this conversation.`, {
      next,
      data: { units: units.length, text },
      ...(text === "" ? {} : { body: `\`\`\`text\n${text}\`\`\`` }),
    });
  const written = await filesOf(context, ELSEWHERE).write(pathOf(path), text);
  return done("units_exported", `${what} written to ${written}.`, {
    next: `${next} The file is not encrypted.`,
    data: { units: units.length, path: written },
  });
}

const ELSEWHERE = "/units export shows the text, and /units import takes it behind the command.";

async function imported(args: string, context: CommandContext): Promise<CommandOutcome | Envelope> {
  if (args === "") refuseUsage("which file, or which text?", USAGE);
  const isText = args.startsWith("@");
  const text = isText ? args : await filesOf(context, ELSEWHERE).read(pathOf(args));
  const { units, known, problems, hasSecret } = await readAll(text, context);
  const lines = problems.slice(0, SHOWN).map(({ line, problem }) => `line ${line}: ${problem}`);
  const told = lines.length === 0 ? "" : `; ${counted(problems.length, "problem")}: ${lines.join("; ")}`;
  const data = { imported: units.length, known, problems };
  // What is written behind the command would stay in the conversation.
  if (units.length + known === 0 || (isText && hasSecret))
    refuse("command_usage", `nothing came in${told}`, {
      next: 'A unit is written as /units export writes it: @k1 ku atomic "id", then its fields. Nothing was changed.',
      data: { ...data, imported: 0 },
    });
  const { units: held = [], turns } = context.session;
  const after = unitsAfter(held, { turn: turns + 1, units }) ?? [];
  const gone = held.length + units.length - after.length;
  const room = gone === 0 ? "" : `; ${counted(gone, "unit")} had to go, for there is room for no more`;
  const message = `${counted(units.length, "knowledge unit")} came in, ${known} were noted already${room}${told}.`;
  const envelope = done("units_imported", message, { next: "/units lists them.", data });
  return units.length === 0 ? envelope : { envelope, units, isCommitted: true };
}

/** Problems that are told in the message; all are in its data. */
const SHOWN = 20;

/** Longest claim with its topic that can be given in a prompt beside others. */
const MAX_CLAIM = 500;

/** What may come in: what is not noted, no secret, and no id that stands for another claim. */
async function readAll(text: string, { session, gate }: CommandContext) {
  const { sessionId, units: held = [] } = session;
  const read = parseUnits(text);
  const problems: UnitTextProblem[] = [...read.problems];
  const claims = new Set(held.map(({ claim }) => claimKey(claim)));
  const ids = new Set(held.map((unit) => wholeUnit(unit, sessionId).id));
  const units: KnowledgeUnit[] = [];
  let [known, hasSecret] = [0, false];
  for (const { unit, line } of read.units) {
    const said = `${unit.topic} ${unit.claim}`.trim();
    const verdict = await gate(said);
    if (claims.has(claimKey(unit.claim))) known += 1;
    else if (ids.has(unit.id)) problems.push({ line, problem: "its id stands for another claim" });
    else if (verdict.action === "deny")
      problems.push({ line, problem: `not noted, rule ${verdict.denial.rule}` });
    else if (said.length > MAX_CLAIM) problems.push({ line, problem: `longer than ${MAX_CLAIM} characters` });
    else units.push(unit);
    claims.add(claimKey(unit.claim));
    ids.add(unit.id);
    hasSecret ||= verdict.action === "deny";
  }
  return { units, known, hasSecret, problems: problems.toSorted((one, other) => one.line - other.line) };
}

function dropped(name: string, context: CommandContext): CommandOutcome {
  const unit =
    context.session.units?.find((one) => nameOf(one, context) === name) ??
    refuse("command_usage", name === "" ? "which unit?" : `there is no unit ${name}`, {
      next: "/units lists them, with their names. Nothing was changed.",
    });
  const message = `${name} is not used any more. What was said stays in the conversation.`;
  return {
    envelope: done("unit_dropped", message, { data: { unit: name } }),
    changes: { unitsDropped: [placeOf(unit)] },
  };
}
