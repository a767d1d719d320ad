/** Which tools a model is offered, with what their descriptions take of its budget; and what commands tell of them. */
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { withContents } from "#src/agents/session-agents.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { shareOf } from "#src/context/plan-context.ts";
import { estimateTokens } from "#src/kernel/text.ts";
import type { BlobReader } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { heldRule, NO_POLICY } from "#src/tools/policy.ts";
import { toolSource } from "#src/tools/tool-source.ts";
import { createSessionTools, type SessionTools } from "#src/tools/session-tools.ts";
import { freezeTools } from "#src/tools/tool-snapshot.ts";
import { offersOf, outsideTools, policyFor } from "./run-outside.ts";
import { sessionTools } from "./tools.ts";

/** Tools that a model is offered, the first ones the most needed, with the tokens of their descriptions. */
export interface OfferedTools {
  readonly tools: readonly StructuredToolInterface[];
  readonly tokens: readonly number[];
}

/** None. */
export const NO_TOOLS: OfferedTools = { tools: [], tokens: [] };

/** Sets that are kept; beyond them all are made anew, which costs more than a prompt and no more. */
const MOST_SETS = 50;

/** The tools of a session's calls, without those that its rules deny; each set is made once, as descriptions cost more to make than a prompt. */
export function offeredTools(
  deps: SessionDeps,
): (session: SessionFields, blobs: BlobReader) => Promise<OfferedTools> {
  const made = new Map<string, OfferedTools>();
  return async (session, blobs) => {
    if (!deps.offersTools(session.activeAgent)) return NO_TOOLS;
    const offers = offersOf(deps, session);
    const { owner, toolSnapshot } = session;
    const set = [offers, session.activeAgent, toolSnapshot === undefined ? null : [owner, toolSnapshot]];
    const key = JSON.stringify(set);
    const known = made.get(key);
    if (known !== undefined) return known;
    const others = [...(deps.tools ?? []), ...(await outsideTools(deps, blobs, session))];
    const policy = await policyFor(deps, blobs, session);
    const tools = sessionTools(others, undefined, offers).filter(
      (tool) => heldRule(policy, { name: tool.name, source: toolSource(tool) }) !== "deny",
    );
    const tokens = tools.map((tool) => estimateTokens(JSON.stringify(convertToOpenAITool(tool))));
    if (made.size >= MOST_SETS) made.clear();
    made.set(key, { tools, tokens });
    return { tools, tokens };
  };
}

/** Tools for the commands of a session. */
export function toolsOf(deps: SessionDeps, blobs: BlobReader, session: SessionFields): SessionTools {
  const agent = session.activeAgent;
  return createSessionTools({
    outside: deps.outside,
    blobs,
    session,
    own: sessionTools(deps.tools ?? [], undefined, offersOf(deps, session)),
    policy: deps.toolPolicy ?? NO_POLICY,
    withoutRoom: async () => {
      const { tools, tokens } = await offeredTools(deps)(session, blobs);
      const model = session.modelConfig.model ?? deps.defaultModel(agent);
      const room = shareOf("tools", deps.windows.budgetOf(model, deps.contextOf(agent)));
      let taken = 0;
      const first = tokens.findIndex((size) => (taken += size) > room);
      return first === -1 ? [] : tools.slice(first).map(({ name }) => name);
    },
  });
}

/** Tools as a session would have them that began now. */
export async function toolsOfNone(deps: SessionDeps): Promise<SessionTools> {
  const states = (await deps.outside?.list({ isAsked: true })) ?? [];
  const policy = deps.toolPolicy ?? NO_POLICY;
  const { snapshot, contents } = freezeTools(states, policy);
  return createSessionTools({
    // They have just been asked.
    outside: deps.outside && { ...deps.outside, list: async () => states },
    blobs: withContents(contents),
    session: { owner: deps.localOwner, activeAgent: deps.defaultAgent, toolSnapshot: snapshot },
    own: sessionTools(deps.tools ?? [], undefined, { memory: deps.memory?.tool === true, skills: true }),
    policy,
    withoutRoom: async () => [],
  });
}
