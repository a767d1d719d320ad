/** Persona files and skills as they lie on the disk now. Sessions read them when they begin, and when they are told to. */
import { join } from "node:path";
import type { FileProblem } from "#src/sessions/session-fields.ts";
import { NO_TEXT, openFolder, openWithin, pathsIn, readText, type Folder } from "./read-folder.ts";
import { readSkillHead } from "./skill-file.ts";

/** Files of an agent, in the order in which models are given them. */
export interface PersonaFiles {
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly problems: readonly FileProblem[];
}

/** A skill with the texts of its folder. */
export interface SkillFiles {
  readonly name: string;
  readonly source: string;
  readonly description: string;
  /** By path within its folder; `SKILL.md` is one of them. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Skills by name, each from the first place that has it. */
export interface SkillsFound {
  readonly skills: readonly SkillFiles[];
  readonly problems: readonly FileProblem[];
}

/** What is on the disk. Nothing of it throws: what cannot be read is told. */
export interface AgentFiles {
  /** Agents that have a folder, but for the default one. */
  agents(): Promise<{ readonly names: readonly string[]; readonly problems: readonly FileProblem[] }>;
  /** Files of an agent. `USER.md` tells of the person at this machine, and is given to that owner alone. */
  persona(agent: string, options: { readonly ofOwner: boolean }): Promise<PersonaFiles>;
  skills(): Promise<SkillsFound>;
}

/** Where there are none. */
export const NO_FILES: AgentFiles = {
  agents: async () => ({ names: [], problems: [] }),
  persona: async () => ({ files: [], problems: [] }),
  skills: async () => ({ skills: [], problems: [] }),
};

/** Where they are. */
export interface AgentFolders {
  readonly home: string;
  /** Where the program was started: skills of the work at hand. */
  readonly workspace: string;
  /** Skills that come with the program; blank for none. */
  readonly bundled: string;
  /** Its files lie in `persona`, those of any other agent in `agents/<name>`. */
  readonly defaultAgent: string;
}

/** What an agent with files may be called: its name is that of a folder. */
const AGENT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/u;

const NO_NAME = "is no name of a folder: those have lower case letters, digits, _ and -";

const PERSONA_FILES = ["SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md"] as const;

// A page of a persona is 3,000 bytes; the specification of skills advises 500 lines, and further files for what is longer.
const PERSONA_BYTES = 20_000;
const SKILL_BYTES = 64_000;
const SKILL_FOLDER_BYTES = 256_000;
const MOST_SKILLS = 64;
const MOST_SKILL_FILES = 40;
const MOST_ENTRIES = 200;

/** Files of a home folder, a workspace and the program. */
export function createAgentFiles({ home, workspace, bundled, defaultAgent }: AgentFolders): AgentFiles {
  return {
    async agents() {
      const problems: FileProblem[] = [];
      const folder = await openFolder(join(home, "agents"), "agents", { problems });
      if (folder === undefined) return { names: [], problems };
      const names: string[] = [];
      for (const { path } of await pathsIn(folder, { most: MOST_ENTRIES }, problems)) {
        const source = `agents/${path}`;
        if (path === defaultAgent) problems.push({ source, reason: "is not read: its files lie in persona" });
        else if (!AGENT_NAME.test(path)) problems.push({ source, reason: NO_NAME });
        else if ((await openWithin(folder, path, problems)) !== undefined) names.push(path);
      }
      return { names, problems };
    },
    async persona(agent, { ofOwner }) {
      const problems: FileProblem[] = [];
      const shown = agent === defaultAgent ? "persona" : `agents/${agent}`;
      if (!AGENT_NAME.test(agent)) return { files: [], problems: [{ source: shown, reason: NO_NAME }] };
      const folder = await openFolder(join(home, shown), shown, { problems });
      if (folder === undefined) return { files: [], problems };
      const wanted = PERSONA_FILES.filter((name) => ofOwner || name !== "USER.md");
      return { files: await personaIn(folder, wanted, problems), problems };
    },
    async skills() {
      const problems: FileProblem[] = [];
      const places = [
        await openFolder(join(workspace, ".lily", "skills"), ".lily/skills", { problems }),
        await openFolder(join(home, "skills"), "skills", { problems }),
        bundled === "" ? undefined : await openFolder(bundled, "bundled", { problems }),
      ];
      const skills = new Map<string, SkillFiles>();
      const seen = new Set<string>();
      for (const place of places) {
        // The workspace's own home folder is one place, not two.
        if (place === undefined || seen.has(place.path)) continue;
        seen.add(place.path);
        await addSkills(skills, place, problems);
      }
      return {
        skills: [...skills.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
        problems,
      };
    },
  };
}

async function personaIn(folder: Folder, wanted: readonly string[], problems: FileProblem[]) {
  const there = await pathsIn(folder, { most: MOST_ENTRIES }, problems);
  const files: { name: string; text: string }[] = [];
  for (const name of wanted) {
    const written = there
      .filter(({ path }) => path.toLowerCase() === name.toLowerCase())
      .map(({ path }) => path);
    const chosen = written.includes(name) ? name : written[0];
    if (chosen === undefined) continue;
    for (const other of written.filter((path) => path !== chosen))
      problems.push({ source: `${folder.shown}/${other}`, reason: `is there twice: ${chosen} is read` });
    const text = await readText(folder, chosen, { maxBytes: PERSONA_BYTES, problems });
    if (text !== undefined && text.trim() !== "") files.push({ name, text: text.trim() });
  }
  return files;
}

/** Adds the skills of one place. */
async function addSkills(
  skills: Map<string, SkillFiles>,
  place: Folder,
  problems: FileProblem[],
): Promise<void> {
  for (const { path, isFile } of await pathsIn(place, { most: MOST_ENTRIES }, problems)) {
    const source = `${place.shown}/${path}`;
    if (isFile) continue;
    const known = skills.get(path);
    if (known !== undefined) {
      problems.push({ source, reason: `is hidden by ${known.source}`, isMeant: true });
      continue;
    }
    if (skills.size === MOST_SKILLS) {
      problems.push({ source, reason: `is left out: a session has at most ${MOST_SKILLS} skills` });
      continue;
    }
    const folder = await openWithin(place, path, problems);
    const skill = folder === undefined ? undefined : await readSkill(folder, path, problems);
    if (skill !== undefined) skills.set(path, skill);
  }
}

async function readSkill(
  folder: Folder,
  name: string,
  problems: FileProblem[],
): Promise<SkillFiles | undefined> {
  const source = folder.shown;
  const before = problems.length;
  const text = await readText(folder, "SKILL.md", { maxBytes: SKILL_BYTES, problems });
  if (text === undefined) {
    if (problems.length === before) problems.push({ source, reason: "has no SKILL.md" });
    return undefined;
  }
  const head = readSkillHead(text, name);
  if (!head.ok) {
    problems.push({ source: `${source}/SKILL.md`, reason: head.reason });
    return undefined;
  }
  const others = await textsBeside(folder, problems);
  return { name, source, description: head.description, texts: { "SKILL.md": text, ...others } };
}

/** Further texts of a skill, as far as there is room for them; what is no text, such as a picture, is no mistake. */
async function textsBeside(folder: Folder, problems: FileProblem[]): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  let room = SKILL_FOLDER_BYTES;
  for (const { path, isFolder } of await pathsIn(
    folder,
    { most: MOST_SKILL_FILES, recursive: true },
    problems,
  )) {
    if (isFolder || path === "SKILL.md") continue;
    const told: FileProblem[] = [];
    const text = await readText(folder, path, { maxBytes: SKILL_BYTES, problems: told });
    for (const problem of told)
      problems.push(problem.reason === NO_TEXT ? { ...problem, isMeant: true } : problem);
    if (text === undefined) continue;
    room -= Buffer.byteLength(text);
    if (room < 0) {
      problems.push({
        source: `${folder.shown}/${path}`,
        reason: `is left out: a skill has at most ${SKILL_FOLDER_BYTES} bytes`,
      });
      break;
    }
    texts[path] = text;
  }
  return texts;
}
