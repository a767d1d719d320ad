/** `/remember <text>`: keeps a fact for all conversations, through the policy gate; and what came of any write of a fact. */
import { done } from "#src/kernel/envelope.ts";
import { defined } from "#src/kernel/json.ts";
import { joined, quoted } from "#src/kernel/markdown.ts";
import { localTime } from "#src/kernel/clock.ts";
import type { Fact, None, RememberOutcome } from "#memory/facts/types.ts";
import type { HiddenText } from "#memory/policy/verdict.ts";
import { PERSONALITY_DOMAINS, shortId, type Domain, type MemoryRecord } from "#memory/record.ts";
import { allowedText, refuseDenied, untold } from "../allowed-text.ts";
import {
  committed,
  refuse,
  type CommandContext,
  type CommandOutcome,
  type PlainCommand,
} from "../command.ts";
import { parseFlags, refuseUsage } from "../parse-command.ts";
import { parseExpiry } from "./memory/expiry.ts";
import { factNames, recordRow, refuseUnknown } from "./memory/records.ts";
import { readDomain, withMemory, type MemoryContext } from "./memory/memory-action.ts";

const USAGE =
  "/remember <text> [--domain persona_core|user_profile|working_rules] [--about <word>] [--task <name>] [--expires <date or duration>]";

export const rememberCommand: PlainCommand = {
  name: "remember",
  summary: "Keep a fact for this and all later conversations",
  usage: "/remember <text> [--about word] [--domain d] [--task name] [--expires date|duration]",
  effects: ["memory"],
  check: (args, context) =>
    checkWritten(args, withMemory(context), () => {
      const { text, task = "", about = "" } = readFact(args, context);
      return [text, `${task} ${about}`];
    }),
  async run(args, given) {
    const context = withMemory(given);
    const fact = readFact(args, context);
    const { facts, who } = context.memory;
    return written(context, () => facts.remember(who, fact));
  },
};

function readFact(args: string, { nowMs, policy }: CommandContext): Fact {
  const { text, values } = parseFlags(args, { values: ["about", "domain", "task", "expires"], usage: USAGE });
  const { domain, expires, ...names } = values;
  if (text === "") refuseUsage("there is nothing to remember", USAGE);
  if (domain !== undefined && names.task !== undefined)
    refuseUsage("--task keeps it with the task; it has no --domain", USAGE);
  const expiresAt =
    expires === undefined ? undefined : parseExpiry(expires, { nowMs, timeZone: policy.timeZone });
  if (expires !== undefined && expiresAt === undefined)
    refuseUsage("--expires is a time in the future, such as 30d or 2026-12-31", USAGE);
  const said = { text, saidBy: "owner", source: "command" } as const;
  return { ...said, ...names, ...defined({ domain: readDomain(domain, USAGE), expiresAt }) };
}

/**
 * Refuses what the policy has against what would be written: a text, and names. Where that cannot be read, all of the
 * arguments count, for a secret behind a mistyped flag is a secret: whoever typed it keeps no line of it either.
 */
export async function checkWritten(
  args: string,
  context: CommandContext,
  read: () => readonly [text: string, names?: string],
): Promise<void> {
  let parts: ReturnType<typeof read>;
  try {
    parts = read();
  } catch (error) {
    if (args !== "") await allowedText(args, context);
    throw error;
  }
  const [text, names = ""] = parts;
  if (text.trim() !== "") await allowedText(text.trim(), context);
  if (names.trim() !== "") await allowedText(names.trim(), context, { isName: true });
}

/** What came of a write of a fact. Only what changed something is committed; a refused text is not. */
export async function written(
  context: MemoryContext,
  write: () => Promise<RememberOutcome | None>,
): Promise<CommandOutcome> {
  const outcome = await untold(write, () =>
    refuse("memory_unavailable", "memory could not be asked, and nothing was remembered", {
      next: "Try again; lily doctor says what is wrong with the files.",
    }),
  );
  switch (outcome.kind) {
    case "none":
      return refuseUnknown();
    case "denied":
      return refuseDenied(outcome.denial);
    case "forgotten":
      return refuse("memory_not_found", "this was forgotten, and only /remember brings it back", {
        next: "Nothing was stored.",
      });
    case "stored":
      return stored(context, outcome);
    case "known":
      return known(context, outcome);
    case "quarantined": {
      const rule = outcome.record.review?.rule ?? "";
      const message = `Put aside for a review, not remembered (rule ${rule}).`;
      return committed("memory_quarantined", message, {
        next: "/memory review shows it; /memory review accept <id> or reject <id> decides.",
        data: { rule, record: recordRow(outcome.record, context) },
      });
    }
  }
}

type Stored = Extract<RememberOutcome, { kind: "stored" }>;

function stored(
  context: MemoryContext,
  { record, superseded, conflicts, revived, domainRule, hidden }: Omit<Stored, "kind">,
): CommandOutcome {
  const { expires_at: expiresAt, domain } = record;
  const parts = [
    `Remembered (${whereText(record)}): “${record.text}”.`,
    expiresAt === null ? "" : `It holds until ${localTime(expiresAt, context.policy.timeZone)}.`,
    superseded.length === 0 ? "" : `It takes the place of ${factNames(superseded)}.`,
    conflicts.length === 0 ? "" : `It is about the same as ${factNames(conflicts)}, and both are kept.`,
    revived ? "It had been forgotten, and is back because you asked." : "",
    hiddenText(hidden),
  ];
  const short = shortId(record.id);
  const others = PERSONALITY_DOMAINS.filter((other) => other !== domain).join("|");
  // The way to another domain, where the caller has not named this one.
  const moved = domainRule === null ? "" : `, /memory edit ${short} --domain ${others} moves it`;
  return committed("memory_stored", joined(parts), {
    next:
      conflicts.length === 0
        ? `/forget ${short} erases it, /memory edit ${short} <text> corrects it${moved}.`
        : `/memory resolve <id> says which one holds; /memory conflicts lists them.`,
    data: {
      record: recordRow(record, context),
      superseded: superseded.map((old) => recordRow(old, context)),
      conflicts: conflicts.map((other) => recordRow(other, context)),
      revived,
      domainRule,
      hidden,
    },
  });
}

function known(
  context: MemoryContext,
  { record, confirmed, hidden }: Extract<RememberOutcome, { kind: "known" }>,
): CommandOutcome {
  const { who } = context.memory;
  // A command that was cut off after its write, or that wrote before its session was ended, finds its own record.
  if (who.turn !== undefined && record.session_id === who.sessionId && record.turn === who.turn)
    return stored(context, {
      record,
      superseded: [],
      conflicts: [],
      revived: false,
      domainRule: null,
      hidden,
    });
  const when = localTime(record.created_at, context.policy.timeZone);
  const parts = [
    `That is remembered already, since ${when} (${whereText(record)}): “${record.text}”.`,
    confirmed ? "It counts as confirmed now." : "",
    hiddenText(hidden),
  ];
  const envelope = done("memory_known", joined(parts), {
    data: { record: recordRow(record, context), confirmed, hidden },
  });
  return { envelope, isCommitted: confirmed };
}

const DOMAIN_WORDS: Readonly<Record<Domain, string>> = {
  persona_core: "who Lily is",
  user_profile: "about you and your life",
  working_rules: "how Lily works",
  task_memory: "a task",
};

function whereText({ domain, task }: MemoryRecord): string {
  return task === null ? `${domain}, ${DOMAIN_WORDS[domain]}` : `task ${quoted(task)}`;
}

/** What was hidden is written by its codes: the characters themselves would hide again. */
function hiddenText(hidden: HiddenText | null): string {
  if (hidden === null) return "";
  const kinds = hidden.codes.map(({ code, name, count }) => `${count} × ${name} (${code})`).join(", ");
  return `Characters that nobody sees were taken out: ${kinds}.`;
}
