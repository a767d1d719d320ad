/** Persona and skills of a session: for its prompts, its tool and its commands. */
import type { AgentFiles } from "#src/agents/agent-files.ts";
import { createSessionAgents, type SessionAgents } from "#src/agents/session-agents.ts";
import { listingSchema, personaText, skillsText, type PromptPart } from "#src/agents/agent-text.ts";
import { frozenSkill, frozenText } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { BlobReader, BlobStore } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";

const NO_FILES: AgentFiles = {
  agents: async () => ({ names: [], problems: [] }),
  persona: async () => ({ files: [], problems: [] }),
  skills: async () => ({ skills: [], problems: [] }),
};

/** Agents, persona and skills for the commands of a session. */
export function agentsOf(deps: SessionDeps, blobs: BlobStore, session: SessionFields): SessionAgents {
  const { agentFiles = NO_FILES, defaultAgent, defaultModel, configuredAgents, localOwner, limits } = deps;
  return createSessionAgents({
    files: agentFiles,
    blobs,
    session,
    defaultAgent,
    modelOf: defaultModel,
    configured: configuredAgents,
    localOwner,
    budgetTokens: limits.contextTokens,
  });
}

/** What a prompt says of persona and skills. What was erased from the store is left out. */
export async function agentParts(
  blobs: BlobReader,
  session: SessionFields,
  budgetTokens: number,
): Promise<{ readonly persona?: string; readonly skills?: string }> {
  const [persona, skills] = await Promise.all([
    personaPart(blobs, session, budgetTokens),
    skillsPart(blobs, session, budgetTokens),
  ]);
  return { persona: persona.text, skills: skills.text };
}

async function personaPart(
  blobs: BlobReader,
  { owner, persona }: SessionFields,
  budgetTokens: number,
): Promise<PromptPart> {
  const read = await Promise.all(
    (persona?.files ?? []).map(async ({ name, hash }) => ({
      name,
      ...(await frozenText(blobs, owner, hash)),
    })),
  );
  return personaText(
    read.flatMap((file) => (file.ok ? [file] : [])),
    budgetTokens,
  );
}

async function skillsPart(
  blobs: BlobReader,
  { owner, skillSnapshot: { listing } }: SessionFields,
  budgetTokens: number,
): Promise<PromptPart> {
  const read = listing === undefined ? undefined : await frozenText(blobs, owner, listing);
  return skillsText(read?.ok === true ? listingSchema.parse(JSON.parse(read.text)) : [], budgetTokens);
}

/** What `read_skill` tells: a text of a skill as the session has it, with the names of its other texts. */
export async function readSkill(
  blobs: BlobReader,
  { owner, skillSnapshot: { skills } }: SessionFields,
  { name, file }: { readonly name: string; readonly file: string },
): Promise<string> {
  const skill = skills.find((candidate) => candidate.name === name.trim());
  if (skill === undefined)
    return `There is no skill ${JSON.stringify(name.slice(0, 80))}. There are: ${skills.map((known) => known.name).join(", ")}.`;
  const read = await frozenSkill(blobs, owner, skill.hash);
  if (!read.ok) return `The skill ${skill.name} cannot be read: it ${read.reason}.`;
  const { texts } = read;
  const text = Object.hasOwn(texts, file) ? texts[file] : undefined;
  const others = Object.keys(texts).filter((path) => path !== file);
  if (text === undefined)
    return `The skill ${skill.name} has no file ${JSON.stringify(file.slice(0, 80))}. It has: ${others.join(", ")}.`;
  const more =
    others.length === 0
      ? ""
      : `\n\n[Other files of this skill, to be read with read_skill: ${others.join(", ")}]`;
  return `${text}${more}`;
}
