/** Which tools a model is offered, with what their descriptions take of its budget. */
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { estimateTokens } from "#src/kernel/tokens.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { memoryOwner } from "./run-memory.ts";
import { sessionTools } from "./tools.ts";

/** Tools that a model is offered, the first ones the most needed, with the tokens of their descriptions. */
export interface OfferedTools {
  readonly tools: readonly StructuredToolInterface[];
  readonly tokens: readonly number[];
}

/** None. */
export const NO_TOOLS: OfferedTools = { tools: [], tokens: [] };

/** The tools of a session's calls; each set is made once, as descriptions cost more to make than a prompt. */
export function offeredTools(deps: SessionDeps): (session: SessionFields) => OfferedTools {
  const made = new Map<string, OfferedTools>();
  return (session) => {
    if (!deps.offersTools(session.activeAgent)) return NO_TOOLS;
    const offers = {
      memory: deps.memory?.tool === true && memoryOwner(deps, session) !== undefined,
      skills: session.skillSnapshot.skills.length > 0,
    };
    const key = JSON.stringify(offers);
    const offered = made.get(key) ?? describedTools(deps, offers);
    made.set(key, offered);
    return offered;
  };
}

function describedTools(
  { tools: others = [] }: SessionDeps,
  offers: { readonly memory: boolean; readonly skills: boolean },
): OfferedTools {
  const tools = sessionTools(others, undefined, offers);
  return { tools, tokens: tools.map((tool) => estimateTokens(JSON.stringify(convertToOpenAITool(tool)))) };
}
