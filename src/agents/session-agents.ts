/** Agents, persona and skills of a session: in its prompts, within their shares, and for its commands, beside the files as they are now. */
import { z } from "zod";
import { escapeData } from "#src/context/system-prompt.ts";
import { canonicalJson } from "#src/kernel/json.ts";
import { estimateTokens, sliceWhole } from "#src/kernel/text.ts";
import type { Blob, BlobReader, BlobStore } from "#src/sessions/repository.ts";
import type { FileProblem, Persona, SessionFields, SkillSnapshot } from "#src/sessions/session-fields.ts";
import { NO_FILES, type AgentFiles } from "./agent-files.ts";
import {
  freezePersona,
  freezeSkills,
  frozenText,
  keepContents,
  pathsOf,
  skillTextsSchema,
  thaw,
  type FrozenFiles,
} from "./snapshot.ts";

/** Most of the budget that the persona takes. */
const PERSONA_SHARE = 0.15;

/** Most of the budget that names and descriptions of skills take. */
const SKILLS_SHARE = 0.05;

/** A part of a prompt, and what of it did not fit. */
interface PromptPart {
  readonly text: string;
  /** In words; `undefined` when all of it is there. */
  readonly left: string | undefined;
}

type SessionParts = Pick<SessionFields, "owner" | "persona" | "skillSnapshot">;

/** What a session's prompts say of persona and skills. What was erased from the store is left out. */
export async function agentParts(
  blobs: BlobReader,
  session: SessionParts,
  budgetTokens: number,
): Promise<{ readonly persona: PromptPart; readonly skills: PromptPart }> {
  const [{ texts }, listing] = await Promise.all([personaOf(blobs, session), listingOf(blobs, session)]);
  return { persona: personaText(texts, budgetTokens), skills: skillsText(listing, budgetTokens) };
}

/** The files of a persona. Its marks cannot be closed by what stands in it. */
function personaText(files: FrozenTexts["texts"], budgetTokens: number): PromptPart {
  const whole = Object.entries(files)
    .map(([name, text]) => `## ${name}\n${text}`)
    .join("\n\n")
    .replaceAll(/<(?=\/?(?:persona|style|skills)\b)/giu, "&lt;");
  const most = Math.floor(budgetTokens * PERSONA_SHARE);
  let cut = whole;
  while (estimateTokens(cut) > most) cut = sliceWhole(cut, 0, Math.floor(cut.length * 0.9));
  if (cut === whole) return { text: whole, left: undefined };
  const left = `its last ${whole.length - cut.length} of ${whole.length} characters are left out of prompts, of which it has ${PERSONA_SHARE * 100} % at most`;
  return { text: `${cut}\n[The rest does not fit.]`, left };
}

/** Names and descriptions of skills. */
const listingSchema = z.array(z.object({ name: z.string(), description: z.string() }));
type Listing = z.infer<typeof listingSchema>;

/** Lengths to which descriptions are cut where all of them do not fit; the last is none. */
const LENGTHS = [1_024, 400, 160, 60, 0] as const;

/** One line a skill; descriptions are shortened, all alike, where they do not fit. */
function skillsText(listing: Listing, budgetTokens: number): PromptPart {
  const most = Math.floor(budgetTokens * SKILLS_SHARE);
  const atMost = (length: number): string[] => listing.map((skill) => `- ${lineOf(skill, length)}`);
  const fits = (lines: readonly string[]): boolean => estimateTokens(lines.join("\n")) <= most;
  const length = LENGTHS.find((candidate) => fits(atMost(candidate)));
  if (length === LENGTHS[0]) return { text: atMost(length).join("\n"), left: undefined };
  const lines = atMost(length ?? 0);
  while (lines.length > 0 && !fits(lines)) lines.pop();
  const gone = listing.length - lines.length;
  const left =
    gone === 0 ? "descriptions are shortened in prompts" : `the last ${gone} are not told in prompts`;
  return { text: lines.join("\n"), left: `${left}, of which skills have ${SKILLS_SHARE * 100} % at most` };
}

function lineOf({ name, description }: Listing[number], length: number): string {
  if (length === 0) return name;
  const cut = description.length > length ? `${sliceWhole(description, 0, length)} …` : description;
  return `${name}: ${escapeData(cut)}`;
}

/** Texts by name, and the names of those that are gone from the store. */
export interface FrozenTexts {
  readonly texts: Readonly<Record<string, string>>;
  readonly gone: readonly string[];
}

async function personaOf(blobs: BlobReader, { owner, persona }: SessionParts): Promise<FrozenTexts> {
  return textsOf(persona?.files ?? [], async ({ name, hash }) => {
    const read = await frozenText(blobs, owner, hash);
    return read.ok ? [[name, read.value]] : undefined;
  });
}

async function listingOf(
  blobs: BlobReader,
  { owner, skillSnapshot: { listing: hash } }: SessionParts,
): Promise<Listing> {
  const read = await thaw(blobs, owner, { hash, schema: listingSchema });
  return read.ok ? read.value : [];
}

async function textsOf<T extends { readonly name: string }>(
  named: readonly T[],
  read: (one: T) => Promise<readonly (readonly [string, string])[] | undefined>,
): Promise<FrozenTexts> {
  const all = await Promise.all(named.map(read));
  return {
    texts: Object.fromEntries(all.flatMap((entries) => entries ?? [])),
    gone: named.flatMap(({ name }, index) => (all[index] === undefined ? [name] : [])),
  };
}

/** A snapshot beside what the files would make of it now. */
interface Compared<T> {
  readonly now: FrozenFiles<T>;
  readonly differs: boolean;
}

/** What commands are given. */
export interface SessionAgents {
  /** Agents that can be chosen, the default one first. */
  list(): Promise<{ readonly names: readonly string[]; readonly problems: readonly FileProblem[] }>;
  /** The model that an agent has where nobody chose one. */
  readonly modelOf: (agent: string) => string;
  /** The persona of an agent, by default the session's own, as its files are now. */
  persona(agent?: string): Promise<Compared<Persona | null>>;
  skills(): Promise<Compared<SkillSnapshot>>;
  /** Files of the session's persona by their names. */
  personaTexts(): Promise<FrozenTexts>;
  /** Files of the session's skills as `name/path`; of one skill, where it is named. */
  skillTexts(only?: string): Promise<FrozenTexts>;
  /** Descriptions of the session's skills by name. */
  descriptions(): Promise<ReadonlyMap<string, string>>;
  /** What of the session's persona and skills does not fit into its prompts. */
  leftOut(): Promise<{ readonly persona: string | undefined; readonly skills: string | undefined }>;
  /** Stores what a snapshot points to. */
  keep(contents: readonly Blob[]): Promise<void>;
}

/** What they are made of. */
interface SessionAgentsDeps extends Pick<SessionAgents, "modelOf"> {
  readonly files: AgentFiles | undefined;
  readonly blobs: BlobStore;
  readonly session: SessionFields;
  readonly defaultAgent: string;
  /** Agents that the configuration names. */
  readonly configured: readonly string[];
  readonly localOwner: string;
  readonly budgetTokens: number;
}

/** Makes them for a session. */
export function createSessionAgents(deps: SessionAgentsDeps): SessionAgents {
  const { files = NO_FILES, blobs, session, defaultAgent, localOwner, budgetTokens } = deps;
  const { owner } = session;
  return {
    modelOf: deps.modelOf,
    async list() {
      const { names, problems } = await files.agents();
      const others = new Set([...deps.configured, ...names]);
      others.delete(defaultAgent);
      return { names: [defaultAgent, ...[...others].sort()], problems };
    },
    async persona(agent = session.activeAgent) {
      const now = freezePersona(await files.persona(agent, { ofOwner: owner === localOwner }));
      return { now, differs: canonicalJson(now.snapshot) !== canonicalJson(session.persona ?? null) };
    },
    async skills() {
      const now = freezeSkills(await files.skills());
      return { now, differs: canonicalJson(now.snapshot) !== canonicalJson(session.skillSnapshot) };
    },
    personaTexts: () => personaOf(blobs, session),
    skillTexts(only) {
      const named = session.skillSnapshot.skills.filter(({ name }) => only === undefined || name === only);
      return textsOf(named, async ({ name, hash }) => {
        const read = await thaw(blobs, owner, { hash, schema: skillTextsSchema });
        return read.ok ? pathsOf(name, read.value) : undefined;
      });
    },
    async descriptions() {
      const listing = await listingOf(blobs, session);
      return new Map(listing.map(({ name, description }) => [name, description]));
    },
    async leftOut() {
      const { persona, skills } = await agentParts(blobs, session, budgetTokens);
      return { persona: persona.left, skills: skills.left };
    },
    keep: (contents) => keepContents(blobs, owner, contents),
  };
}
