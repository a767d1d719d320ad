/** `/units`: what this conversation has noted of what was said, as the person reads it, takes it along and brings it in. */
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
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
import type { CommandContext, CommandOutcome, PlainCommand } from "../command.ts";
import { firstWord, usageEnvelope } from "../parse-command.ts";
import { pathOf, told } from "./memory/memory-action.ts";

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
        return { envelope: await told(() => exported(rest, context)) };
      case "import": {
        const outcome = await told(() => imported(rest, context));
        return "code" in outcome ? { envelope: outcome } : outcome;
      }
      case "drop":
        return dropped(rest, context);
      default:
        return { envelope: usageEnvelope(`there is no /units ${word}`, USAGE) };
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

async function exported(path: string, { session, files }: CommandContext): Promise<Envelope> {
  const { units = [], sessionId } = session;
  const text = printUnits(units.map((unit) => wholeUnit(unit, sessionId)));
  const what = counted(units.length, "knowledge unit");
  const next = "/units import <path or text> reads them, here or elsewhere.";
  if (path === "")
    return done("units_exported", `${what} of this conversation.`, {
      next,
      data: { units: units.length, text },
      ...(text === "" ? {} : { body: `\`\`\`text\n${text}\`\`\`` }),
    });
  if (files === undefined) return noFiles();
  const written = await files.write(pathOf(path), text);
  return done("units_exported", `${what} written to ${written}.`, {
    next: `${next} The file is not encrypted.`,
    data: { units: units.length, path: written },
  });
}

function noFiles(): Envelope {
  return refused("files_unavailable", "files are read and written in the terminal alone", {
    next: "/units export shows the text, and /units import takes it behind the command.",
  });
}

async function imported(args: string, context: CommandContext): Promise<CommandOutcome> {
  const { files, session } = context;
  if (args === "") return { envelope: usageEnvelope("which file, or which text?", USAGE) };
  const isText = args.startsWith("@");
  if (!isText && files === undefined) return { envelope: noFiles() };
  const { units, known, problems, hasSecret } = await readAll(
    isText ? args : ((await files?.read(pathOf(args))) ?? ""),
    context,
  );
  const lines = problems.slice(0, SHOWN).map(({ line, problem }) => `line ${line}: ${problem}`);
  const told = lines.length === 0 ? "" : `; ${counted(problems.length, "problem")}: ${lines.join("; ")}`;
  const data = { imported: units.length, known, problems: problems.map((one) => ({ ...one })) };
  // What is written behind the command would stay in the conversation.
  if (units.length + known === 0 || (isText && hasSecret))
    return {
      envelope: refused("command_usage", `nothing came in${told}`, {
        next: 'A unit is written as /units export writes it: @k1 ku atomic "id", then its fields. Nothing was changed.',
        data: { ...data, imported: 0 },
      }),
    };
  const after = unitsAfter(session.units, { turn: session.turns + 1, units }) ?? [];
  const gone = (session.units?.length ?? 0) + units.length - after.length;
  const room = gone === 0 ? "" : `; ${counted(gone, "unit")} had to go, for there is room for no more`;
  const message = `${counted(units.length, "knowledge unit")} came in, ${known} were noted already${room}${told}.`;
  const envelope = done("units_imported", message, { next: "/units lists them.", data });
  return units.length === 0 ? { envelope } : { envelope, units, isCommitted: true };
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

function dropped(args: string, context: CommandContext): CommandOutcome {
  const unit = context.session.units?.find((one) => nameOf(one, context) === args);
  if (unit === undefined)
    return {
      envelope: refused("command_usage", args === "" ? "which unit?" : `there is no unit ${args}`, {
        next: "/units lists them, with their names. Nothing was changed.",
      }),
    };
  return {
    envelope: done("unit_dropped", `${args} is not used any more. What was said stays in the conversation.`, {
      data: { unit: args },
    }),
    changes: { unitsDropped: [placeOf(unit)] },
  };
}
