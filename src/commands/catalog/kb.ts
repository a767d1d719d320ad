/** `/kb`: knowledge bases, which are collections of documents with a name; those that are mounted are searched for each turn. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted, markdownTable, quoted } from "#src/kernel/markdown.ts";
import { kbNameSchema } from "#src/sessions/plugin-choices.ts";
import { DEFAULT_KB } from "#memory/namespaces.ts";
import { allowedText } from "../allowed-text.ts";
import { refuse, type CommandOutcome, type PlainCommand } from "../command.ts";
import { firstWord, refuseUsage } from "../parse-command.ts";
import { evidenceIn, evidenceIngestAction, ingestInto } from "./memory/evidence.ts";
import { sourcesShown } from "./memory/evidence-shown.ts";
import { withMemory, type MemoryContext } from "./memory/memory-action.ts";

const USAGE = "/kb [list [name] | mount <name> | unmount <name> | add <name> <file>]";

export const kbCommand: PlainCommand = {
  name: "kb",
  summary: "List, mount and fill knowledge bases: collections of documents that are searched for each turn",
  usage: USAGE,
  effects: ["reads", "session", "memory", "files"],
  onlyReads: (args) => ["", "list"].includes(firstWord(args).word.toLowerCase()),
  async check(args, given) {
    const context = withMemory(given);
    const { action, name, file } = askedIn(args);
    if (action === "add") {
      await allowedText(name, context, { isName: true });
      await evidenceIngestAction.check?.(file, context);
    }
    if (action === "mount" && name !== DEFAULT_KB) {
      const isThere = await evidenceIn(context).of(name).hasAny(context.memory.who);
      if (!isThere) await refuseUnknown(name, context);
    }
  },
  async run(args, given): Promise<CommandOutcome | Envelope> {
    const context = withMemory(given);
    const { action, name, file } = askedIn(args);
    const mounted = context.session.kbs ?? [DEFAULT_KB];
    const others = mounted.filter((kb) => kb !== name);
    switch (action) {
      case "list":
        return name === "" ? listed(context, mounted) : documents(context, name);
      case "unmount":
        if (others.length === mounted.length)
          refuse("kb_not_found", `${quoted(name)} is not mounted here`, {
            next: "/kb lists the knowledge bases.",
          });
        return changed("kb_unmounted", `“${name}” is not searched any more`, others);
      case "mount":
        return changed("kb_mounted", `“${name}” is searched from now on`, [...others, name]);
      case "add": {
        const outcome = await ingestInto(evidenceIn(context).of(name), file, context);
        return mounted.includes(name) ? outcome : { ...outcome, changes: { kbs: [...mounted, name] } };
      }
    }
  },
};

/** What is asked for. Without a name it is of all. */
interface Asked {
  readonly action: "list" | "mount" | "unmount" | "add";
  readonly name: string;
  readonly file: string;
}

function askedIn(args: string): Asked {
  const { word, rest } = firstWord(args);
  const wanted = word.toLowerCase() || "list";
  const action =
    (["list", "mount", "unmount", "add"] as const).find((known) => known === wanted) ??
    refuseUsage(`${quoted(word)} is nothing to do with a knowledge base`, USAGE);
  const { word: written, rest: behind } = firstWord(rest);
  const name = written.normalize("NFC").toLowerCase();
  const file = behind.trim();
  if (!(action === "list" && name === "") && !kbNameSchema.safeParse(name).success)
    refuseUsage("a name has 1 to 40 letters, digits, - and _, and begins with a letter or digit", USAGE);
  if (action === "add" && file === "") refuseUsage("which file?", USAGE);
  return { action, name, file };
}

async function listed(context: MemoryContext, mounted: readonly string[]): Promise<Envelope> {
  const evidence = evidenceIn(context);
  const { who } = context.memory;
  const names = [...new Set([DEFAULT_KB, ...(await evidence.kbs(who)), ...mounted])];
  const kbs = await Promise.all(
    names.map(async (name) => ({
      name,
      documents: (await evidence.of(name).sources(who)).length,
      mounted: mounted.includes(name),
    })),
  );
  const rows = kbs.map((kb) => [kb.mounted ? `${kb.name} ●` : kb.name, counted(kb.documents, "document")]);
  const message =
    mounted.length === 0 ? "No knowledge base is mounted here." : `Mounted here: ${mounted.join(", ")}.`;
  return done("kbs", message, {
    next: "/kb add <name> <file> fills one, /kb mount <name> has it searched, /kb list <name> shows its documents.",
    data: { kbs },
    body: markdownTable(["knowledge base", ""], rows),
  });
}

async function documents(context: MemoryContext, name: string): Promise<Envelope> {
  const sources = await evidenceIn(context).of(name).sources(context.memory.who);
  if (sources.length === 0 && name !== DEFAULT_KB) return refuseUnknown(name, context);
  const { rows, body } = sourcesShown(sources, context.policy.timeZone);
  return done("kb_documents", `“${name}” has ${counted(sources.length, "document")}.`, {
    next: "/memory evidence forget <id> erases one.",
    data: { name, sources: rows },
    body,
  });
}

function changed(code: string, what: string, kbs: readonly string[]): CommandOutcome {
  const rest = kbs.length === 0 ? "none is mounted" : `mounted: ${kbs.join(", ")}`;
  const envelope = done(code, `${what}, here and in later conversations; ${rest}.`, { data: { kbs } });
  return { envelope, changes: { kbs: [...kbs] } };
}

async function refuseUnknown(name: string, context: MemoryContext): Promise<never> {
  const known = await evidenceIn(context).kbs(context.memory.who);
  const there = known.length === 0 ? "There is none yet" : `There are: ${known.join(", ")}`;
  return refuse("kb_not_found", `there is no knowledge base ${quoted(name)} with a document`, {
    next: `${there}. /kb add ${name} <file> makes it.`,
  });
}
