/** `/kb`: knowledge bases, which are collections of documents with a name; those that are mounted are searched for each turn. */
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { counted, markdownTable, quoted } from "#src/kernel/markdown.ts";
import { kbNameSchema } from "#src/sessions/plugin-choices.ts";
import type { EvidenceBook } from "#memory/evidence/evidence-book.ts";
import { DEFAULT_KB } from "#memory/namespaces.ts";
import { denialEnvelope } from "#memory/policy/verdict.ts";
import type { CommandContext, CommandOutcome, PlainCommand } from "../command.ts";
import { firstWord, usageEnvelope } from "../parse-command.ts";
import { evidenceIngestAction } from "./memory/evidence.ts";
import { sourceRow, sourcesTable } from "./memory/evidence-shown.ts";
import { actionContext, memoryOff, type ActionContext } from "./memory/memory-action.ts";

const USAGE = "/kb [list [name] | mount <name> | unmount <name> | add <name> <file>]";

export const kbCommand: PlainCommand = {
  kind: "plain",
  name: "kb",
  summary: "List, mount and fill knowledge bases: collections of documents that are searched for each turn",
  usage: USAGE,
  effects: ["reads", "session", "memory", "files"],
  onlyReads: (args) => ["", "list"].includes(firstWord(args).word.toLowerCase()),
  async objection(args, context) {
    const asked = askedOf(args, context);
    if ("code" in asked) return asked;
    const { action, name, rest, evidence, on } = asked;
    if (action === "add") {
      const denial = await on.memory.denial(name, { isName: true });
      if (denial !== undefined) return denialEnvelope(denial);
      return evidenceIngestAction.objection?.(rest, on);
    }
    if (action !== "mount" || name === DEFAULT_KB || (await evidence.of(name).hasAny(on.memory.who)))
      return undefined;
    return unknownKb(name, await evidence.kbs(on.memory.who));
  },
  async run(args, context): Promise<CommandOutcome> {
    const asked = askedOf(args, context);
    if ("code" in asked) return { envelope: asked };
    const { action, name, rest, evidence, on } = asked;
    const mounted = context.session.kbs ?? [DEFAULT_KB];
    const others = mounted.filter((kb) => kb !== name);
    switch (action) {
      case "list":
        return {
          envelope: name === "" ? await listed(evidence, on, mounted) : await documents(name, evidence, on),
        };
      case "unmount":
        if (others.length === mounted.length)
          return { envelope: refused("kb_not_found", `${quoted(name)} is not mounted here`, { next: NEXT }) };
        return {
          envelope: changed("kb_unmounted", `“${name}” is not searched any more`, others),
          changes: { kbs: others },
        };
      case "mount": {
        const refusal = await kbCommand.objection?.(args, context);
        if (refusal !== undefined) return { envelope: refusal };
        const kbs = [...others, name];
        return {
          envelope: changed("kb_mounted", `“${name}” is searched from now on`, kbs),
          changes: { kbs },
        };
      }
      case "add": {
        const refusal = await kbCommand.objection?.(args, context);
        if (refusal !== undefined) return { envelope: refusal };
        const outcome = await evidenceIngestAction.run(rest, { ...on, evidence: evidence.of(name) });
        if (!outcome.envelope.ok || mounted.includes(name)) return outcome;
        return { ...outcome, changes: { kbs: [...mounted, name] } };
      }
    }
  },
};

const NEXT = "/kb lists the knowledge bases.";

/** What is asked for, or the refusal of what cannot be. */
interface Asked {
  readonly action: "list" | "mount" | "unmount" | "add";
  /** `""`: of all. */
  readonly name: string;
  readonly rest: string;
  readonly evidence: EvidenceBook;
  readonly on: ActionContext;
}

function askedOf(args: string, context: CommandContext): Asked | Envelope {
  const on = actionContext(context);
  const { evidence } = context;
  if (on === undefined || evidence === undefined) return memoryOff();
  const { word, rest } = firstWord(args);
  const action = (["list", "mount", "unmount", "add"] as const).find(
    (known) => known === (word.toLowerCase() || "list"),
  );
  if (action === undefined)
    return usageEnvelope(`${quoted(word)} is nothing to do with a knowledge base`, USAGE);
  const { word: written, rest: file } = firstWord(rest);
  const name = written.normalize("NFC").toLowerCase();
  if (action === "list" && name === "") return { action, name, rest: "", evidence, on };
  if (!kbNameSchema.safeParse(name).success)
    return usageEnvelope(
      "a name has 1 to 40 letters, digits, - and _, and begins with a letter or digit",
      USAGE,
    );
  if (action === "add" && file.trim() === "") return usageEnvelope("which file?", USAGE);
  return { action, name, rest: file.trim(), evidence, on };
}

async function listed(
  evidence: EvidenceBook,
  { memory }: ActionContext,
  mounted: readonly string[],
): Promise<Envelope> {
  const names = [...new Set([DEFAULT_KB, ...(await evidence.kbs(memory.who)), ...mounted])];
  const kbs = await Promise.all(
    names.map(async (name) => ({
      name,
      documents: (await evidence.of(name).sources(memory.who)).length,
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

async function documents(
  name: string,
  evidence: EvidenceBook,
  { memory, policy }: ActionContext,
): Promise<Envelope> {
  const sources = await evidence.of(name).sources(memory.who);
  if (sources.length === 0 && name !== DEFAULT_KB) return unknownKb(name, await evidence.kbs(memory.who));
  const rows = sources.map((source) => sourceRow(source, policy.timeZone));
  return done("kb_documents", `“${name}” has ${counted(sources.length, "document")}.`, {
    next: "/memory evidence forget <id> erases one.",
    data: { name, sources: rows },
    body: sourcesTable(rows),
  });
}

function changed(code: string, what: string, kbs: readonly string[]): Envelope {
  const rest = kbs.length === 0 ? "none is mounted" : `mounted: ${kbs.join(", ")}`;
  return done(code, `${what}, here and in later conversations; ${rest}.`, { data: { kbs } });
}

function unknownKb(name: string, known: readonly string[]): Envelope {
  return refused("kb_not_found", `there is no knowledge base ${quoted(name)} with a document`, {
    next: `${known.length === 0 ? "There is none yet" : `There are: ${known.join(", ")}`}. /kb add ${name} <file> makes it.`,
  });
}
