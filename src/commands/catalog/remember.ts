/** `/remember <text>`: keeps a fact for all conversations, through the policy gate. */
import type { Envelope } from "#src/kernel/envelope.ts";
import type { Fact } from "#memory/facts/types.ts";
import type { CommandContext, CommandOutcome, PlainCommand } from "../command.ts";
import { parseFlags, usageEnvelope } from "../parse-command.ts";
import { parseExpiry } from "./memory/expiry.ts";
import { guarded, objectionTo } from "./memory/remembered.ts";
import { actionContext, memoryOff, readDomain, type ActionContext } from "./memory/memory-action.ts";

const USAGE =
  "/remember <text> [--domain persona_core|user_profile|working_rules] [--about <word>] [--task <name>] [--expires <date or duration>]";

export const rememberCommand: PlainCommand = {
  kind: "plain",
  name: "remember",
  summary: "Keep a fact for this and all later conversations",
  usage: "/remember <text> [--about word] [--domain d] [--task name] [--expires date|duration]",
  effects: ["memory"],
  async objection(args, context) {
    const on = actionContext(context);
    const read = readFact(args, context);
    if (on === undefined) return memoryOff();
    if (read.ok) {
      const { text, task = "", about = "" } = read.fact;
      const names = `${task} ${about}`.trim();
      return (
        (await objectionTo(text, on)) ?? (names === "" ? undefined : objectionTo(names, on, { isName: true }))
      );
    }
    // A secret behind a mistyped flag is a secret: whoever typed it keeps no line of it either.
    return (args === "" ? undefined : await objectionTo(args, on)) ?? read.envelope;
  },
  async run(args, context) {
    const on = actionContext(context);
    if (on === undefined) return { envelope: memoryOff() };
    const read = readFact(args, context);
    return read.ok ? remember(read.fact, on) : { envelope: read.envelope };
  },
};

async function remember(fact: Fact, context: ActionContext): Promise<CommandOutcome> {
  const { facts, who } = context.memory;
  return guarded(context, () => facts.remember(who, fact));
}

type ReadFact =
  | { readonly ok: true; readonly fact: Fact }
  | { readonly ok: false; readonly envelope: Envelope };

function readFact(args: string, { nowMs, policy }: CommandContext): ReadFact {
  const flags = parseFlags(args, { values: ["about", "domain", "task", "expires"] });
  if (!flags.ok) return refuse(flags.problem);
  const { about, domain, task, expires } = flags.values;
  if (flags.text === "") return refuse("there is nothing to remember");
  if (domain !== undefined && task !== undefined)
    return refuse("--task keeps it with the task; it has no --domain");
  const read = readDomain(domain);
  if (!read.ok) return refuse(read.problem);
  const expiresAt =
    expires === undefined ? undefined : parseExpiry(expires, { nowMs, timeZone: policy.timeZone });
  if (expires !== undefined && expiresAt === undefined)
    return refuse("--expires is a time in the future, such as 30d or 2026-12-31");
  const fact: Fact = { text: flags.text, saidBy: "owner", source: "command" };
  return {
    ok: true,
    fact: {
      ...fact,
      ...(read.domain === undefined ? {} : { domain: read.domain }),
      ...(about === undefined ? {} : { about }),
      ...(task === undefined ? {} : { task }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
  };
}

function refuse(problem: string): ReadFact {
  return { ok: false, envelope: usageEnvelope(problem, USAGE) };
}
