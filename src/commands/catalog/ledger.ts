/** `/todo` and `/decided`: the ledger of the conversation's tasks and decisions, as the person reads and writes it. */
import { done, envelopeOf, refused, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import { entryOf } from "#src/sessions/chain.ts";
import {
  closeInLedger,
  ledgerText,
  noteInLedger,
  openEntries,
  type LedgerEntry,
} from "#src/sessions/ledger.ts";
import { denialEnvelope, type PolicyVerdict } from "#memory/policy/verdict.ts";
import { counted } from "#src/kernel/markdown.ts";
import type { CommandContext, CommandOutcome, PlainCommand } from "../command.ts";
import { usageEnvelope } from "../parse-command.ts";

interface Words {
  readonly kind: LedgerEntry["kind"];
  readonly name: "todo" | "decided";
  readonly summary: string;
  /** The word that closes an entry, and how one that is closed is called. */
  readonly close: "done" | "drop";
  readonly open: string;
  readonly closed: string;
}

export const todoCommand = ledgerCommand({
  kind: "task",
  name: "todo",
  summary: "Note a task of this conversation, close one, or list them",
  close: "done",
  open: "open",
  closed: "done",
});

export const decidedCommand = ledgerCommand({
  kind: "decision",
  name: "decided",
  summary: "Note a decision of this conversation, drop one, or list them",
  close: "drop",
  open: "holds",
  closed: "dropped",
});

function ledgerCommand(words: Words): PlainCommand {
  const { close, name, summary } = words;
  const closing = new RegExp(`^${close}\\s+#?(\\d{1,6})$`, "iu");
  return {
    kind: "plain",
    name,
    summary,
    usage: `/${name} [text|${close} n|list]`,
    effects: ["reads", "session"],
    onlyReads: (args) => args === "" || args.toLowerCase() === "list",
    async run(args, context) {
      if (this.onlyReads?.(args) === true) return { envelope: listed(words, context) };
      const [, number] = closing.exec(args) ?? [];
      if (number !== undefined) return closed(words, Number(number), context);
      return noted(words, args, context);
    },
  };
}

function listed(
  { kind, name, close, open, closed: over }: Words,
  { session, chain }: CommandContext,
): Envelope {
  const entries = (session.ledger?.entries ?? []).filter((entry) => entry.kind === kind);
  const holding = openEntries(session.ledger, kind).length;
  const message =
    entries.length === 0
      ? `No ${kind} is noted in this conversation.`
      : `${counted(holding, kind)} ${open === "holds" ? "noted" : open}, of ${entries.length}.`;
  return done(name, message, {
    next:
      entries.length === 0
        ? `/${name} <text> notes one.`
        : `/${name} ${close} <number> closes one; models are told of those that are not closed.`,
    data: { entries },
    body: markdownTable(
      ["number", kind, "state", "noted in"],
      entries.map((entry) => [
        String(entry.number),
        entry.text,
        entry.closed ? over : open,
        whereText(entry, entryOf(chain, entry.sessionId ?? "")?.ordinal),
      ]),
    ),
  });
}

function whereText({ turn }: LedgerEntry, ordinal: number | undefined): string {
  return ordinal === undefined ? `turn ${turn}` : `session ${ordinal}, turn ${turn}`;
}

function closed(
  { kind, name, closed: over }: Words,
  number: number,
  context: CommandContext,
): CommandOutcome {
  const verdict = closeInLedger(context.session.ledger, number, kind);
  if (verdict.kind !== "change")
    return {
      envelope: refused("command_usage", `there is no open ${kind} ${number}`, {
        next: `/${name} list shows them; nothing was changed.`,
      }),
    };
  const entry = openEntries(context.session.ledger, kind).find((open) => open.number === number);
  return {
    envelope: done(`${name}_closed`, `The ${kind} ${number} is ${over}: “${entry?.text ?? ""}”.`, {
      data: { number },
    }),
    changes: { ledger: [verdict.change] },
  };
}

async function noted(
  { kind, name, close }: Words,
  args: string,
  context: CommandContext,
): Promise<CommandOutcome> {
  const line = ledgerText(args);
  if (line === undefined)
    return { envelope: usageEnvelope(`a ${kind} is one line of at most 240 characters`, `/${name} <text>`) };
  const judged = await judge(line, context);
  if ("code" in judged) return { envelope: judged };
  if (judged.action === "deny") {
    const { rule, message, next } = judged.denial;
    return { envelope: denialEnvelope({ rule, next, message: message.replace("remembered", "noted") }) };
  }
  const verdict = noteInLedger(context.session.ledger, { kind, text: judged.text });
  switch (verdict.kind) {
    case "change": {
      const { number } = verdict.change;
      const message = `Noted as ${kind} ${number}: “${judged.text}”.`;
      return {
        envelope: done(`${name}_noted`, message, {
          next: `/${name} ${close} ${number} closes it.`,
          data: { number, text: judged.text },
        }),
        changes: { ledger: [verdict.change] },
      };
    }
    case "known": {
      const { number, text } = verdict.entry;
      const message = `That is ${kind} ${number} already.`;
      return { envelope: done(`${name}_known`, message, { data: { number, text } }) };
    }
    case "full":
    case "missing":
      return { envelope: fullEnvelope() };
  }
}

function fullEnvelope(): Envelope {
  return refused("command_usage", "the ledger of this conversation is full", {
    next: "Close a task (/todo done <number>) or a decision (/decided drop <number>) first; nothing was noted.",
  });
}

/** What the policy says. An error is told, not thrown: what is thrown is logged with the text, which may be a secret. */
async function judge(text: string, context: CommandContext): Promise<PolicyVerdict | Envelope> {
  try {
    return await context.gate(text);
  } catch (error) {
    if (isLilyError(error)) return envelopeOf(error);
    return refused("internal", "the text could not be checked for secrets, and nothing was noted", {
      next: "Try again.",
    });
  }
}
