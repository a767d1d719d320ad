/** `/todo` and `/decided`: the ledger of the conversation's tasks and decisions, as the person reads and writes it. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted, markdownTable } from "#src/kernel/markdown.ts";
import { entryOf } from "#src/sessions/chain.ts";
import {
  closeInLedger,
  ledgerText,
  noteInLedger,
  openEntries,
  type LedgerEntry,
} from "#src/sessions/ledger.ts";
import { allowedText } from "../allowed-text.ts";
import { refuse, type CommandContext, type CommandOutcome, type PlainCommand } from "../command.ts";
import { refuseUsage } from "../parse-command.ts";

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
  const lists = (args: string): boolean => args === "" || args.toLowerCase() === "list";
  return {
    name,
    summary,
    usage: `/${name} [text|${close} n|list]`,
    effects: ["reads", "session"],
    onlyReads: lists,
    async run(args, context) {
      if (lists(args)) return listed(words, context);
      const [, number] = closing.exec(args) ?? [];
      return number === undefined ? noted(words, args, context) : closed(words, Number(number), context);
    },
  };
}

function listed(
  { kind, name, close, open, closed: over }: Words,
  { session, chain }: CommandContext,
): Envelope {
  const entries = (session.ledger?.entries ?? []).filter((entry) => entry.kind === kind);
  if (entries.length === 0)
    return done(name, `No ${kind} is noted in this conversation.`, {
      next: `/${name} <text> notes one.`,
      data: { entries },
    });
  const holding = counted(openEntries(session.ledger, kind).length, kind);
  return done(name, `${holding} ${open === "holds" ? "noted" : open}, of ${entries.length}.`, {
    next: `/${name} ${close} <number> closes one; models are told of those that are not closed.`,
    data: { entries },
    body: markdownTable(
      ["number", kind, "state", "noted in"],
      entries.map(({ number, text, closed: isOver, turn, sessionId = "" }) => {
        const ordinal = entryOf(chain, sessionId)?.ordinal;
        const where = ordinal === undefined ? `turn ${turn}` : `session ${ordinal}, turn ${turn}`;
        return [String(number), text, isOver ? over : open, where];
      }),
    ),
  });
}

function closed(
  { kind, name, closed: over }: Words,
  number: number,
  { session }: CommandContext,
): CommandOutcome {
  const verdict = closeInLedger(session.ledger, number, kind);
  if (verdict.kind !== "change")
    return refuse("command_usage", `there is no open ${kind} ${number}`, {
      next: `/${name} list shows them; nothing was changed.`,
    });
  const { text = "" } = openEntries(session.ledger, kind).find((entry) => entry.number === number) ?? {};
  const message = `The ${kind} ${number} is ${over}: “${text}”.`;
  return {
    envelope: done(`${name}_closed`, message, { data: { number } }),
    changes: { ledger: [verdict.change] },
  };
}

async function noted(
  { kind, name, close }: Words,
  args: string,
  context: CommandContext,
): Promise<CommandOutcome | Envelope> {
  const line =
    ledgerText(args) ?? refuseUsage(`a ${kind} is one line of at most 240 characters`, `/${name} <text>`);
  const text = await allowedText(line, context, { kept: "noted" });
  const verdict = noteInLedger(context.session.ledger, { kind, text });
  switch (verdict.kind) {
    case "change": {
      const { number } = verdict.change;
      const envelope = done(`${name}_noted`, `Noted as ${kind} ${number}: “${text}”.`, {
        next: `/${name} ${close} ${number} closes it.`,
        data: { number, text },
      });
      return { envelope, changes: { ledger: [verdict.change] } };
    }
    case "known": {
      const { number, text: known } = verdict.entry;
      return done(`${name}_known`, `That is ${kind} ${number} already.`, { data: { number, text: known } });
    }
    case "full":
    case "missing":
      return refuse("command_usage", "the ledger of this conversation is full", {
        next: "Close a task (/todo done <number>) or a decision (/decided drop <number>) first; nothing was noted.",
      });
  }
}
