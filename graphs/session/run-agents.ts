/** Persona and skills of a session: for its commands, and for the tool that reads a skill. */
import { createSessionAgents, type SessionAgents } from "#src/agents/session-agents.ts";
import { skillTextsSchema, thaw } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { BlobReader, BlobStore } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";

/** Agents, persona and skills for the commands of a session. */
export function agentsOf(deps: SessionDeps, blobs: BlobStore, session: SessionFields): SessionAgents {
  const { agentFiles: files, defaultAgent, defaultModel, configuredAgents, localOwner, limits } = deps;
  return createSessionAgents({
    files,
    blobs,
    session,
    defaultAgent,
    modelOf: defaultModel,
    configured: configuredAgents,
    localOwner,
    budgetTokens: limits.contextTokens,
  });
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
  const read = await thaw(blobs, owner, { hash: skill.hash, schema: skillTextsSchema });
  if (!read.ok) return `The skill ${skill.name} cannot be read: it ${read.reason}.`;
  const texts = read.value;
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
