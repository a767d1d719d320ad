/** Which tools a model is offered, with what their descriptions take of its budget. */
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { estimateTokens } from "#src/kernel/tokens.ts";
import type { BlobReader } from "#src/sessions/blobs.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { offersOf, outsideTools } from "./run-outside.ts";
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

/** The tools of a session's calls; each set is made once, as descriptions cost more to make than a prompt. */
export function offeredTools(
  deps: SessionDeps,
): (session: SessionFields, blobs: BlobReader) => Promise<OfferedTools> {
  const made = new Map<string, OfferedTools>();
  return async (session, blobs) => {
    if (!deps.offersTools(session.activeAgent)) return NO_TOOLS;
    const offers = offersOf(deps, session);
    const { owner, toolSnapshot } = session;
    const key = JSON.stringify([offers, toolSnapshot === undefined ? null : [owner, toolSnapshot]]);
    const known = made.get(key);
    if (known !== undefined) return known;
    const others = [...(deps.tools ?? []), ...(await outsideTools(deps, blobs, session))];
    const tools = sessionTools(others, undefined, offers);
    const tokens = tools.map((tool) => estimateTokens(JSON.stringify(convertToOpenAITool(tool))));
    if (made.size >= MOST_SETS) made.clear();
    made.set(key, { tools, tokens });
    return { tools, tokens };
  };
}
