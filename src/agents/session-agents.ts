/** Agents, persona and skills for a session's commands: as it has them, and as the files are now. */
import { canonicalJson } from "#src/kernel/json.ts";
import type { Blob, BlobStore } from "#src/sessions/repository.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import type { FileProblem, Persona, SessionFields, SkillSnapshot } from "#src/sessions/session-fields.ts";
import type { AgentFiles } from "./agent-files.ts";
import { listingSchema, personaText, skillsText } from "./agent-text.ts";
import {
  freezePersona,
  freezeSkills,
  frozenSkill,
  frozenText,
  keepContents,
  type Frozen,
} from "./snapshot.ts";

/** Texts by name, and the names of those that are gone from the store. */
export interface FrozenTexts {
  readonly texts: Readonly<Record<string, string>>;
  readonly gone: readonly string[];
}

/** A snapshot beside what the files would make of it now. */
export interface Compared<T> {
  readonly now: Frozen<T>;
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
  /** Files of a persona by their names. `fresh`: what is not stored yet. */
  textsOfPersona(persona: Persona | null | undefined, fresh?: readonly Blob[]): Promise<FrozenTexts>;
  /** Files of skills as `name/path`; of one skill, where it is named. */
  textsOfSkills(
    skills: SkillSnapshot,
    options?: { fresh?: readonly Blob[]; only?: string },
  ): Promise<FrozenTexts>;
  /** Descriptions by name. */
  descriptions(skills: SkillSnapshot): Promise<ReadonlyMap<string, string>>;
  /** What of the session's persona and skills does not fit into its prompts. */
  leftOut(): Promise<{ readonly persona: string | undefined; readonly skills: string | undefined }>;
  /** Stores what a snapshot points to. */
  keep(contents: readonly Blob[]): Promise<void>;
}

/** What they are made of. */
export interface SessionAgentsDeps extends Pick<SessionAgents, "modelOf"> {
  readonly files: AgentFiles;
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
  const { files, blobs, session } = deps;
  const { owner } = session;
  const agents: SessionAgents = {
    modelOf: deps.modelOf,
    async list() {
      const { names, problems } = await files.agents();
      const all = new Set([...deps.configured, ...names]);
      all.delete(deps.defaultAgent);
      return { names: [deps.defaultAgent, ...[...all].sort()], problems };
    },
    async persona(agent = session.activeAgent) {
      const now = freezePersona(await files.persona(agent, { ofOwner: owner === deps.localOwner }));
      return { now, differs: !isSame(now.snapshot, session.persona ?? null) };
    },
    async skills() {
      const now = freezeSkills(await files.skills());
      return { now, differs: !isSame(now.snapshot, session.skillSnapshot) };
    },
    async textsOfPersona(persona, fresh = []) {
      const named = (persona?.files ?? []).map(({ name, hash }) => [name, hash] as const);
      return textsOf(
        named,
        (hash) => frozenText(withContents(fresh, blobs), owner, hash),
        (name, { text }) => [[name, text]],
      );
    },
    async textsOfSkills({ skills }, { fresh = [], only } = {}) {
      const named = skills
        .filter(({ name }) => only === undefined || name === only)
        .map(({ name, hash }) => [name, hash] as const);
      return textsOf(
        named,
        (hash) => frozenSkill(withContents(fresh, blobs), owner, hash),
        (name, { texts }) => Object.entries(texts).map(([path, text]) => [`${name}/${path}`, text]),
      );
    },
    async descriptions({ listing }) {
      const read = listing === undefined ? undefined : await frozenText(blobs, owner, listing);
      const listed = read?.ok === true ? listingSchema.parse(JSON.parse(read.text)) : [];
      return new Map(listed.map(({ name, description }) => [name, description]));
    },
    async leftOut() {
      const { texts } = await agents.textsOfPersona(session.persona);
      const described = await agents.descriptions(session.skillSnapshot);
      const listed = [...described].map(([name, description]) => ({ name, description }));
      return {
        persona: personaText(
          Object.entries(texts).map(([name, text]) => ({ name, text })),
          deps.budgetTokens,
        ).left,
        skills: skillsText(listed, deps.budgetTokens).left,
      };
    },
    keep: (contents) => keepContents(blobs, owner, contents),
  };
  return agents;
}

/** Blobs of which some are not stored yet. */
export function withContents(contents: readonly Blob[], stored?: BlobStore): BlobStore {
  const byHash = new Map(contents.map((blob) => [sha256Of(blob.bytes), blob]));
  return {
    read: async (owner, sha256) => byHash.get(sha256) ?? stored?.read(owner, sha256),
    keep: async (owner, blob) => stored?.keep(owner, blob) ?? sha256Of(blob.bytes),
  };
}

async function textsOf<R extends { readonly ok: boolean }>(
  named: readonly (readonly [name: string, hash: string])[],
  read: (hash: string) => Promise<R>,
  entries: (name: string, found: Extract<R, { ok: true }>) => readonly (readonly [string, string])[],
): Promise<FrozenTexts> {
  const all = await Promise.all(named.map(async ([name, hash]) => ({ name, found: await read(hash) })));
  const isThere = (found: R): found is Extract<R, { ok: true }> => found.ok;
  return {
    texts: Object.fromEntries(all.flatMap(({ name, found }) => (isThere(found) ? entries(name, found) : []))),
    gone: all.filter(({ found }) => !found.ok).map(({ name }) => name),
  };
}

function isSame(one: Persona | SkillSnapshot | null, other: Persona | SkillSnapshot | null): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
