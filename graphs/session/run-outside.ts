/** Tools of a session that are not Lily's own: taken when it begins, offered as it has them, run at their sources. */
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import type { Frozen } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { BlobReader } from "#src/sessions/repository.ts";
import type { SessionFields, ToolSnapshot } from "#src/sessions/session-fields.ts";
import { NO_POLICY, type HeldPolicy } from "#src/tools/policy.ts";
import { sourceOf } from "#src/tools/session-tools.ts";
import { sourceMetadata } from "#src/tools/tool-source.ts";
import { freezeTools, hasRules, heldPolicy, readTools } from "#src/tools/tool-snapshot.ts";
import { memoryOwner } from "./run-memory.ts";

/**
 * The tools of a session that begins, and the rules for them. No server is begun for one whose model is offered none, or
 * that is not there yet; `undefined` where there is nothing of both.
 */
export async function toolsToFreeze(
  { outside, offersTools, defaultModel, toolPolicy = NO_POLICY }: SessionDeps,
  begins: { readonly agent: string; readonly model: string | null; readonly isStored?: boolean },
): Promise<Frozen<ToolSnapshot> | undefined> {
  const { agent, model, isStored = true } = begins;
  const isOffered = isStored && offersTools(agent) && (model ?? defaultModel(agent)) !== "symbolic";
  const states = isOffered ? await outside?.list() : undefined;
  if (states === undefined && !hasRules(toolPolicy)) return undefined;
  return freezeTools(states ?? [], toolPolicy);
}

/** Whose rules for tools hold in a session. */
export async function policyFor(
  { toolPolicy = NO_POLICY }: Pick<SessionDeps, "toolPolicy">,
  blobs: BlobReader,
  session: SessionFields,
): Promise<HeldPolicy> {
  return heldPolicy(blobs, session, toolPolicy);
}

/** The tools as the session has them. What is gone from the store is not offered; what its source no longer has fails when it is called. */
export async function outsideTools(
  { outside }: Pick<SessionDeps, "outside">,
  blobs: BlobReader,
  { owner, toolSnapshot }: SessionFields,
): Promise<StructuredToolInterface[]> {
  if (toolSnapshot === undefined) return [];
  const { tools } = await readTools(blobs, owner, toolSnapshot);
  return tools.map((frozen) =>
    tool(
      async (args: unknown, config): Promise<unknown> => {
        const { source, tool: name } = frozen;
        if (outside === undefined)
          throw new Error(`the tool is not there any more: ${source} is not configured`);
        return outside.call({ source, tool: name }, args as Record<string, unknown>, config?.signal);
      },
      {
        name: frozen.name,
        description: frozen.description,
        schema: frozen.schema,
        metadata: sourceMetadata(sourceOf(frozen)),
      },
    ),
  );
}

/** Which of Lily's own tools a session has. */
export function offersOf(
  deps: SessionDeps,
  session: SessionFields,
): { readonly memory: boolean; readonly skills: boolean } {
  return {
    memory: deps.memory?.tool === true && memoryOwner(deps, session) !== undefined,
    skills: session.skillSnapshot.skills.length > 0,
  };
}
