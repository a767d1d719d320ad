/**
 * Freezes persona and skills for a session: contents are stored once by their hash, the session holds names and hashes. What
 * a session began with is a blob too, named by its entry in the chain, so that it is the same without its checkpoint.
 */
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { canonicalJson, parseJson } from "#src/kernel/json.ts";
import { FROZEN_TYPE, type Blob, type BlobReader, type BlobStore } from "#src/sessions/repository.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import {
  personaSchema,
  skillSnapshotSchema,
  type FileProblem,
  type Persona,
  type SessionFields,
  type SkillSnapshot,
  toolSnapshotSchema,
  type ToolSnapshot,
} from "#src/sessions/session-fields.ts";
import { NO_FILES, type AgentFiles, type PersonaFiles, type SkillsFound } from "./agent-files.ts";

/** A snapshot with what has to be stored before anything points to it. */
export interface Frozen<T> {
  readonly snapshot: T;
  readonly contents: readonly Blob[];
}

/** With the texts that it points to, by name: files of a persona, or of skills as `name/path`. */
export interface FrozenFiles<T> extends Frozen<T> {
  readonly texts: Readonly<Record<string, string>>;
}

/** The snapshot of a session that began before there were skills, or where there are none. */
export const NO_SKILLS: SkillSnapshot = { snapshot_version: "1", skills: [], diagnostics: [] };

type SnapshotFields = Pick<SessionFields, "persona" | "skillSnapshot" | "toolSnapshot">;

/** Collects what has to be stored: gives the hash of each content. */
export function freezer(): { readonly contents: Blob[]; readonly keep: (text: string) => string } {
  const contents: Blob[] = [];
  return {
    contents,
    keep(text) {
      const bytes = new TextEncoder().encode(text);
      contents.push({ mimeType: FROZEN_TYPE, bytes });
      return sha256Of(bytes);
    },
  };
}

/** Freezes the files of an agent; `null` where there is nothing of them. */
export function freezePersona({ files, problems }: PersonaFiles): FrozenFiles<Persona | null> {
  const { contents, keep } = freezer();
  const named = files.map(({ name, text }) => ({ name, hash: keep(text) }));
  return {
    snapshot: files.length + problems.length === 0 ? null : { files: named, diagnostics: someOf(problems) },
    contents,
    texts: Object.fromEntries(files.map(({ name, text }) => [name, text])),
  };
}

/** Freezes skills. Their texts are one blob each, names and descriptions one for all. */
export function freezeSkills({ skills, problems }: SkillsFound): FrozenFiles<SkillSnapshot> {
  const { contents, keep } = freezer();
  const indexed = skills.map(({ name, source, texts }) => ({
    name,
    source,
    hash: keep(canonicalJson(texts)),
  }));
  const diagnostics = someOf(problems);
  if (skills.length === 0) return { snapshot: { ...NO_SKILLS, diagnostics }, contents, texts: {} };
  const listing = keep(canonicalJson(skills.map(({ name, description }) => ({ name, description }))));
  const version = freezer().keep(canonicalJson(indexed)).slice(0, 12);
  return {
    snapshot: { snapshot_version: version, skills: indexed, diagnostics, listing },
    contents,
    texts: Object.fromEntries(skills.flatMap(({ name, texts }) => pathsOf(name, texts))),
  };
}

/** Texts of a skill by `name/path`. */
export function pathsOf(name: string, texts: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(texts).map(([path, text]) => [`${name}/${path}`, text]);
}

/** What a session begins with: the name of the blob that says it, and all that has to be stored; neither where there is nothing. */
export async function freezeSession(
  files: AgentFiles = NO_FILES,
  agent: string,
  { tools, ofOwner }: { readonly ofOwner: boolean; readonly tools: Frozen<ToolSnapshot> | undefined },
): Promise<{ readonly hash: string | undefined; readonly contents: readonly Blob[] }> {
  const persona = freezePersona(await files.persona(agent, { ofOwner }));
  const skills = freezeSkills(await files.skills());
  const isBare = persona.snapshot === null && tools === undefined;
  if (isBare && skills.snapshot.skills.length + skills.snapshot.diagnostics.length === 0)
    return { hash: undefined, contents: [] };
  const all = { v: 1, persona: persona.snapshot, skills: skills.snapshot, tools: tools?.snapshot };
  const session = freezer();
  const hash = session.keep(canonicalJson(all));
  const parts = [persona.contents, skills.contents, tools?.contents ?? [], session.contents];
  return { hash, contents: parts.flat() };
}

const sessionSnapshotSchema = z.object({
  v: z.literal(1),
  persona: personaSchema.nullable(),
  skills: skillSnapshotSchema,
  tools: toolSnapshotSchema.optional(),
});

/** What the session of a chain entry began with. Where it is gone from the store, the session goes on without, and says so. */
export async function thawSession(
  blobs: BlobReader,
  owner: string,
  hash: string | undefined,
): Promise<SnapshotFields> {
  if (hash === undefined) return { skillSnapshot: NO_SKILLS };
  const read = await thaw(blobs, owner, { hash, schema: sessionSnapshotSchema });
  if (!read.ok) {
    const diagnostics = [{ source: "the snapshot of persona, skills and tools", reason: read.reason }];
    return { skillSnapshot: { ...NO_SKILLS, diagnostics } };
  }
  const { persona, skills, tools } = read.value;
  return {
    skillSnapshot: skills,
    ...(persona === null ? {} : { persona }),
    ...(tools === undefined ? {} : { toolSnapshot: tools }),
  };
}

/** Stores what a snapshot points to. */
export async function keepContents(
  blobs: BlobStore,
  owner: string,
  contents: readonly Blob[],
): Promise<void> {
  for (const blob of contents) await blobs.keep(owner, blob);
}

/** Blobs of which some are not stored yet. */
export function withContents(contents: readonly Blob[], stored?: BlobStore): BlobStore {
  const byHash = new Map(contents.map((blob) => [sha256Of(blob.bytes), blob]));
  return {
    read: async (owner, sha256) => byHash.get(sha256) ?? stored?.read(owner, sha256),
    keep: async (owner, blob) => stored?.keep(owner, blob) ?? sha256Of(blob.bytes),
  };
}

/** A frozen value, or why there is none: it may have been erased. */
export type Thawed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** The frozen text of that hash. */
export async function frozenText(blobs: BlobReader, owner: string, hash: string): Promise<Thawed<string>> {
  try {
    const blob = await blobs.read(owner, hash);
    if (blob === undefined) return { ok: false, reason: "was erased from the store" };
    return { ok: true, value: new TextDecoder().decode(blob.bytes) };
  } catch (error) {
    return { ok: false, reason: errorMessage(error) };
  }
}

/** The frozen value of that hash, in the form of the schema. */
export async function thaw<T>(
  blobs: BlobReader,
  owner: string,
  { hash, schema }: { readonly hash: string | undefined; readonly schema: z.ZodType<T> },
): Promise<Thawed<T>> {
  if (hash === undefined) return { ok: false, reason: "is not there" };
  const read = await frozenText(blobs, owner, hash);
  if (!read.ok) return read;
  const parsed = schema.safeParse(parseJson(read.value));
  return parsed.success ? { ok: true, value: parsed.data } : { ok: false, reason: "is damaged in the store" };
}

/** The texts of a frozen skill by their paths. */
export const skillTextsSchema = z.record(z.string(), z.string());

/** What a session that begins tells of files that were left out; `null` where all is well. */
export function leftOutText({ persona, skillSnapshot }: SnapshotFields): string | null {
  const all = [...(persona?.diagnostics ?? []), ...skillSnapshot.diagnostics];
  const [first, ...others] = all.filter(({ isMeant }) => isMeant !== true);
  if (first === undefined) return null;
  const more = others.length === 0 ? "" : ` So were ${others.length} more.`;
  return `Of persona and skills, ${first.source} was left out: it ${first.reason}.${more} /persona and /skills list all.`;
}

/** More would only fill the state; the files that are left out first are told. */
const MOST_PROBLEMS = 30;

function someOf(problems: readonly FileProblem[]): FileProblem[] {
  if (problems.length <= MOST_PROBLEMS) return [...problems];
  const more = problems.length - MOST_PROBLEMS + 1;
  return [...problems.slice(0, MOST_PROBLEMS - 1), { source: `${more} more`, reason: "are not listed" }];
}
