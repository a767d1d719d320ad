/** `/agents`, `/agent`, `/persona`, `/skills`, `/reload_persona`, `/reload_skills`: who Lily is here, and what it can do. */
import { differenceText } from "#src/agents/difference.ts";
import type { FrozenTexts } from "#src/agents/session-agents.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { defined } from "#src/kernel/json.ts";
import { counted, joined, markdownTable } from "#src/kernel/markdown.ts";
import type { FileProblem } from "#src/sessions/session-fields.ts";
import { refuse, type PlainCommand } from "../command.ts";
import { firstWord, refuseUsage } from "../parse-command.ts";

export const agentsCommand: PlainCommand = {
  name: "agents",
  summary: "List the agents that can answer",
  usage: "/agents",
  effects: ["reads"],
  async run(_args, { agents, session: { activeAgent } }) {
    const { names, problems } = await agents.list();
    const rows = names.map((name) => ({ name, active: name === activeAgent, model: agents.modelOf(name) }));
    const there = names.length === 1 ? "is 1 agent" : `are ${names.length} agents`;
    const body = markdownTable(
      ["agent", "its model"],
      rows.map(({ name, active, model }) => [active ? `${name} ●` : name, model]),
    );
    return done("agents", `${activeAgent} answers here; there ${there}.`, {
      data: { agents: rows, problems },
      body: withProblems(body, problems),
      next: "/agent <name> chooses one; a new one is a folder agents/<name> in the home folder with a SOUL.md.",
    });
  },
};

export const chooseAgentCommand: PlainCommand = {
  name: "agent",
  summary: "Show or choose the agent that answers, here and in later conversations",
  usage: "/agent [name]",
  effects: ["reads", "session"],
  onlyReads: (args) => args === "",
  async run(args, { agents, session: { activeAgent } }) {
    const wanted = args.toLowerCase();
    if (wanted === "" || wanted === activeAgent.toLowerCase())
      return done("agent", `${activeAgent} answers here.`, {
        next: "/agents lists all.",
        data: { agent: activeAgent },
      });
    const { names } = await agents.list();
    const name =
      names.find((known) => known.toLowerCase() === wanted) ??
      refuse("agent_unknown", `there is no agent ${JSON.stringify(args.slice(0, 80))}`, {
        next: `There are: ${names.join(", ")}.`,
      });
    const { contents, snapshot: persona } = (await agents.persona(name)).now;
    await agents.keep(contents);
    const files = persona?.files.map((file) => file.name).join(", ") ?? "";
    const what = files === "" ? "without a persona" : `with ${files}`;
    const message = `${name} answers from now on, in this conversation and those after it, ${what}.`;
    const model = agents.modelOf(name);
    const envelope = done("agent_set", message, {
      next: `Model, skills and all else stay as they are here; ${model} is its own model, and /model reset takes it.`,
      data: { agent: name, model },
      body: withProblems("", persona?.diagnostics ?? []),
    });
    return { envelope, changes: { agent: name, persona } };
  },
};

export const personaCommand: PlainCommand = {
  name: "persona",
  summary: "Show who the agent is here, and whether its files differ by now",
  usage: "/persona [file]",
  effects: ["reads"],
  async run(args, { agents, session: { activeAgent, persona } }) {
    const had = await agents.personaTexts();
    const wanted = args.toLowerCase().replace(/\.md$/u, "");
    if (wanted !== "")
      return fileEnvelope(had, (name) => name.toLowerCase() === `${wanted}.md`, "/persona <file>");
    const { now, differs } = await agents.persona();
    const files = comparedFiles(had, now.texts);
    const { persona: left } = await agents.leftOut();
    const isLong = left === undefined ? "" : ` It is too long: ${left}.`;
    const message =
      files.length === 0
        ? `${activeAgent} has no persona here.`
        : `${activeAgent} is this here, as it was read.${isLong}`;
    const problems = persona?.diagnostics ?? [];
    const table = markdownTable(
      ["file", "characters", "on the disk"],
      files.map(({ name, characters, now: how }) => [name, String(characters), NOW[how]]),
    );
    return done("persona", message, {
      data: { agent: activeAgent, files, problems, differs, ...defined({ left }) },
      body: withProblems(table, problems),
      next: differs
        ? "The files differ by now: /reload_persona shows how, and takes them over."
        : files.length === 0
          ? "A SOUL.md in its folder is read by /reload_persona and by the next conversation."
          : "/persona <file> shows one.",
    });
  },
};

export const skillsCommand: PlainCommand = {
  name: "skills",
  summary: "List the skills of this conversation, or show one",
  usage: "/skills [name [file]]",
  effects: ["reads"],
  async run(args, { agents, session: { skillSnapshot } }) {
    const { word, rest: file } = firstWord(args);
    if (word !== "") {
      const texts = await agents.skillTexts(word);
      return fileEnvelope(texts, (name) => name === `${word}/${file || "SKILL.md"}`, "/skills <name>");
    }
    const { differs } = await agents.skills();
    const described = await agents.descriptions();
    const { skills: left } = await agents.leftOut();
    const skills = skillSnapshot.skills.map(({ name, source }) => ({
      name,
      source,
      description: described.get(name) ?? "",
    }));
    const { diagnostics: problems, snapshot_version: version } = skillSnapshot;
    const areMany = left === undefined ? "" : ` They are many: ${left}.`;
    const table = markdownTable(
      ["skill", "from", "what it is for"],
      skills.map(({ name, source, description }) => [name, source, description]),
    );
    return done("skills", `${counted(skills.length, "skill")} here, as they were read.${areMany}`, {
      data: { version, skills, problems, differs, ...defined({ left }) },
      body: withProblems(table, problems),
      next: differs
        ? "The files differ by now: /reload_skills shows how, and takes them over."
        : "/skills <name> shows one.",
    });
  },
};

export const reloadPersonaCommand: PlainCommand = {
  name: "reload_persona",
  summary: "Take the persona files over as they are now",
  usage: "/reload_persona",
  effects: ["reads", "session"],
  async run(_args, { agents }) {
    const { now, differs } = await agents.persona();
    // Also where nothing differs: what was erased from the store comes back with the file.
    await agents.keep(now.contents);
    const before = await agents.personaTexts();
    const problems = now.snapshot?.diagnostics ?? [];
    const envelope = reloadEnvelope("persona", { differs, before, after: now.texts, problems });
    return differs ? { envelope, changes: { persona: now.snapshot } } : envelope;
  },
};

export const reloadSkillsCommand: PlainCommand = {
  name: "reload_skills",
  summary: "Take the skills over as they are now",
  usage: "/reload_skills",
  effects: ["reads", "session"],
  async run(_args, { agents }) {
    const { now, differs } = await agents.skills();
    await agents.keep(now.contents);
    const before = await agents.skillTexts();
    const problems = now.snapshot.diagnostics;
    const envelope = reloadEnvelope("skills", { differs, before, after: now.texts, problems });
    return differs ? { envelope, changes: { skillSnapshot: now.snapshot } } : envelope;
  },
};

interface Reload {
  readonly differs: boolean;
  readonly before: FrozenTexts;
  readonly after: FrozenTexts["texts"];
  readonly problems: readonly FileProblem[];
}

function reloadEnvelope(what: "persona" | "skills", { differs, before, after, problems }: Reload): Envelope {
  const body = withProblems(differs ? differenceText(before.texts, after) : "", problems);
  const data = { changed: comparedFiles(before, after).filter(({ now }) => now !== "same"), problems };
  return differs
    ? done(
        `${what}_reloaded`,
        `From now on this conversation has the ${what} as the files are now; nothing else of it changed.`,
        { data, body },
      )
    : done(`${what}_same`, "The files are as they were read; nothing changes.", { data, body });
}

/** How a file is now, beside what was read. */
const NOW = {
  same: "the same",
  changed: "changed since",
  gone: "gone since",
  new: "new since, not in this conversation",
  erased: "was erased from this conversation",
};

interface ComparedFile {
  readonly name: string;
  readonly characters: number;
  readonly now: keyof typeof NOW;
}

function comparedFiles(had: FrozenTexts, current: FrozenTexts["texts"]): ComparedFile[] {
  const names = new Set([...Object.keys(had.texts), ...had.gone, ...Object.keys(current)]);
  return [...names].map((name) => {
    const before = had.texts[name];
    const after = current[name];
    const characters = (before ?? after ?? "").length;
    if (had.gone.includes(name)) return { name, characters, now: "erased" };
    if (before === undefined) return { name, characters, now: "new" };
    if (after === undefined) return { name, characters, now: "gone" };
    return { name, characters, now: before === after ? "same" : "changed" };
  });
}

function fileEnvelope(
  { texts, gone }: FrozenTexts,
  isWanted: (name: string) => boolean,
  usage: string,
): Envelope {
  const found = Object.entries(texts).find(([name]) => isWanted(name));
  if (found === undefined) {
    const names = [...Object.keys(texts), ...gone.map((name) => `${name} (erased)`)];
    return refuseUsage(
      names.length === 0 ? "there is none of that name" : `there are: ${names.join(", ")}`,
      usage,
    );
  }
  const [name, text] = found;
  return done("file", `${name}, as it was read.`, { body: text, data: { name, text } });
}

/** With what was left out, and why, below. */
function withProblems(body: string, problems: readonly FileProblem[]): string {
  const told = markdownTable(
    ["left out", "because it"],
    problems.map(({ source, reason }) => [source, reason]),
  );
  return joined([body, told], "\n\n");
}
