/**
 * Freezes persona and skills for a session: contents are stored once by their hash, the session holds names and hashes. What
 * a session began with is a blob too, named by its entry in the chain, so that it is the same without its checkpoint.
 */
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { canonicalJson } from "#src/kernel/json.ts";
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
import type { AgentFiles, PersonaFiles, SkillsFound } from "./agent-files.ts";

/** A snapshot with what has to be stored before anything points to it. */
export interface Frozen<T> {
  readonly snapshot: T;
  readonly contents: readonly Blob[];
}

/** The snapshot of a session that began before there were skills, or where there are none. */
export const NO_SKILLS: SkillSnapshot = { snapshot_version: "1", skills: [], diagnostics: [] };

/** The fields of a session that are snapshots. */
export type SnapshotFields = Pick<SessionFields, "persona" | "skillSnapshot" | "toolSnapshot">;

/** Freezes the files of an agent; `null` where there is nothing of them. */
export function freezePersona({ files, problems }: PersonaFiles): Frozen<Persona | null> {
  const contents = files.map(({ text }) => blobOf(text));
  if (files.length === 0 && problems.length === 0) return { snapshot: null, contents };
  const named = files.map(({ name }, index) => ({ name, hash: hashOf(contents[index]) }));
  return { snapshot: { files: named, diagnostics: someOf(problems) }, contents };
}

/** Freezes skills. Their texts are one blob each, names and descriptions one for all. */
export function freezeSkills({ skills, problems }: SkillsFound): Frozen<SkillSnapshot> {
  const contents = skills.map(({ texts }) => blobOf(canonicalJson(texts)));
  const indexed = skills.map(({ name, source }, index) => ({ name, source, hash: hashOf(contents[index]) }));
  const diagnostics = someOf(problems);
  if (skills.length === 0) return { snapshot: { ...NO_SKILLS, diagnostics }, contents };
  const listing = blobOf(canonicalJson(skills.map(({ name, description }) => ({ name, description }))));
  const version = hashOf(blobOf(canonicalJson(indexed))).slice(0, 12);
  return {
    snapshot: { snapshot_version: version, skills: indexed, diagnostics, listing: hashOf(listing) },
    contents: [...contents, listing],
  };
}

/** What a session begins with: the name of the blob that says it, and all that has to be stored; neither where there is nothing. */
export async function freezeSession(
  files: AgentFiles | undefined,
  agent: string,
  { tools, ...options }: { readonly ofOwner: boolean; readonly tools: Frozen<ToolSnapshot> | undefined },
): Promise<{ readonly hash: string | undefined; readonly contents: readonly Blob[] }> {
  const persona = freezePersona((await files?.persona(agent, options)) ?? { files: [], problems: [] });
  const skills = freezeSkills((await files?.skills()) ?? { skills: [], problems: [] });
  const isBare = persona.snapshot === null && tools === undefined;
  if (isBare && skills.snapshot.skills.length + skills.snapshot.diagnostics.length === 0)
    return { hash: undefined, contents: [] };
  const all = { v: 1, persona: persona.snapshot, skills: skills.snapshot };
  const session = blobOf(canonicalJson(tools === undefined ? all : { ...all, tools: tools.snapshot }));
  const contents = [...persona.contents, ...skills.contents, ...(tools?.contents ?? []), session];
  return { hash: sha256Of(session.bytes), contents };
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
  const text = await frozenText(blobs, owner, hash);
  const parsed = sessionSnapshotSchema.safeParse(text.ok ? JSON.parse(text.text) : undefined);
  if (!parsed.success) {
    const diagnostics = [
      { source: "persona, skills and tools", reason: text.ok ? "are damaged in the store" : text.reason },
    ];
    return { skillSnapshot: { ...NO_SKILLS, diagnostics } };
  }
  const { persona, skills, tools } = parsed.data;
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

/** A frozen text, or why there is none: it may have been erased. */
export type FrozenText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** The frozen text of that hash. */
export async function frozenText(blobs: BlobReader, owner: string, hash: string): Promise<FrozenText> {
  try {
    const blob = await blobs.read(owner, hash);
    if (blob === undefined) return { ok: false, reason: "was erased from the store" };
    return { ok: true, text: new TextDecoder().decode(blob.bytes) };
  } catch (error) {
    return { ok: false, reason: errorMessage(error) };
  }
}

const textsSchema = z.record(z.string(), z.string());

/** The texts of a frozen skill by their paths. */
export async function frozenSkill(
  blobs: BlobReader,
  owner: string,
  hash: string,
): Promise<
  { readonly ok: true; readonly texts: Readonly<Record<string, string>> } | (FrozenText & { ok: false })
> {
  const read = await frozenText(blobs, owner, hash);
  if (!read.ok) return read;
  return { ok: true, texts: textsSchema.parse(JSON.parse(read.text)) };
}

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

function blobOf(text: string): Blob {
  return { mimeType: FROZEN_TYPE, bytes: new TextEncoder().encode(text) };
}

function hashOf(blob: Blob | undefined): string {
  return blob === undefined ? "" : sha256Of(blob.bytes);
}
