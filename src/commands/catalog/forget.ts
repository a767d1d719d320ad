/** `/forget <id or words>`: erases one fact from memory; what was said in conversations stays, unless `--everywhere`. */
import { counted } from "#src/kernel/markdown.ts";
import { done, type Envelope, refused } from "#src/kernel/envelope.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import { placeOf, unitsSaying } from "#src/sessions/knowledge-units.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import type { CommandOutcome, PlainCommand } from "../command.ts";
import { usageEnvelope } from "../parse-command.ts";
import { FORGET_USAGE, findFact, type ForgetFlags, notFound, readForget } from "./memory/find-record.ts";
import { forgetEverywhere } from "./memory/forget-everywhere.ts";
import { actionContext, memoryOff, momentOf, type ActionContext } from "./memory/memory-action.ts";
import { recordRow } from "./memory/record-row.ts";

export const forgetCommand: PlainCommand = {
  kind: "plain",
  name: "forget",
  summary: "Erase a fact from memory; what was said in conversations stays, unless --everywhere",
  usage: FORGET_USAGE,
  effects: ["memory"],
  onlyReads(args) {
    const flags = readForget(args);
    if (!flags.ok) return false;
    const asks = flags.switches.has("everywhere") || flags.switches.has("all");
    return flags.switches.has("dry-run") || (asks && !flags.switches.has("yes"));
  },
  async run(args, context) {
    const on = actionContext(context);
    if (on === undefined) return { envelope: memoryOff() };
    const flags = readForget(args);
    if (!flags.ok) return { envelope: usageEnvelope(flags.problem, FORGET_USAGE) };
    if (flags.switches.has("all")) return forgetAll(on, flags);
    if (flags.switches.has("everywhere")) return forgetEverywhere(on, flags);
    const found = await findFact(on, flags);
    const inDoubt = found.kind === "refused" && found.envelope.code !== "memory_not_found";
    const units = inDoubt
      ? []
      : unitsSaying(on.session.units, found.kind === "one" ? found.record.text : flags.text);
    const isDry = flags.switches.has("dry-run");
    if (found.kind === "refused" && (isDry || units.length === 0)) return found;
    const changes = units.length === 0 ? {} : { changes: { unitsDropped: units.map(placeOf) } };
    if (found.kind === "refused") return { envelope: droppedUnits(units.length), ...changes };
    return flags.switches.has("dry-run")
      ? { envelope: preview(on, found.record) }
      : { ...(await forget(on, found.record)), ...changes };
  },
};

const KEPT = "What was said in conversations stays in their transcripts.";

function droppedUnits(count: number): Envelope {
  const message = `Nothing remembered fits; this conversation had noted it, and uses it no more: ${counted(count, "knowledge unit")}. ${KEPT}`;
  return done("units_dropped", message, {
    next: "/forget <words> --everywhere erases it from conversations too.",
    data: { count },
  });
}

/** `/forget --all`: memory alone is emptied, after a yes. */
async function forgetAll(
  { memory }: ActionContext,
  { text, values, switches }: ForgetFlags,
): Promise<CommandOutcome> {
  const { facts, who } = memory;
  if (text !== "" || values.task !== undefined || switches.has("everywhere"))
    return { envelope: usageEnvelope("--all is all that is remembered, and stands alone", FORGET_USAGE) };
  if (!switches.has("yes") || switches.has("dry-run")) {
    const { current, review, leftOut } = await facts.overview(who);
    const total = Object.values(current).reduce((sum, count) => sum + count, review + leftOut);
    const message = `This would erase all that is remembered, ${counted(total, "fact")}. ${KEPT} Documents stay too.`;
    const more = { next: "/forget --all --yes does it. Nothing was changed.", data: { total } };
    if (total === 0 || switches.has("dry-run"))
      return { envelope: done("memory_forget_preview", message, more) };
    return { envelope: refused("confirmation_needed", message, more) };
  }
  const total = await facts.forgetAll(who);
  const envelope = done(
    "memory_forgotten",
    `Erased from memory: ${counted(total, "fact")}, which is all. ${KEPT}`,
    {
      next: "/remember <text> keeps something again; lily erase --owner erases a person wholly.",
      data: { total, kept: ["transcripts", "documents"] },
    },
  );
  return { envelope, isCommitted: true };
}

function preview(context: ActionContext, record: MemoryRecord): Envelope {
  const short = shortId(record.id);
  return done("memory_forget_preview", `This would be erased: “${record.text}” (${short}).`, {
    next: `/forget ${short} does it. ${KEPT} --everywhere erases it there too.`,
    data: { record: recordRow(record, momentOf(context)) },
  });
}

/** The reply is stored with its turn, so it names the fact and does not repeat it. */
async function forget(context: ActionContext, { id }: MemoryRecord): Promise<CommandOutcome> {
  const { facts, who } = context.memory;
  const outcome = await facts.forget(who, id);
  if (outcome.kind === "none") return { envelope: notFound(shortId(id)) };
  const { record, predecessors } = outcome;
  const since = localTime(record.created_at, context.policy.timeZone);
  const earlier =
    predecessors.length === 0
      ? ""
      : `What it had replaced is kept and not read: ${predecessors.map((old) => shortId(old.id)).join(", ")}. `;
  const envelope = done(
    "memory_forgotten",
    `Erased from memory: what was remembered on ${since} (${record.domain}, ${shortId(id)}). ${earlier}${KEPT}`,
    {
      next: "/remember <text> keeps it again; /forget <words> --everywhere erases it from conversations too.",
      data: {
        id,
        domain: record.domain,
        task: record.task,
        predecessors: predecessors.map((old) => old.id),
        kept: ["transcripts"],
      },
    },
  );
  return { envelope, isCommitted: true };
}
