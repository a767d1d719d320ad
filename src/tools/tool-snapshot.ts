/** Freezes the tools of a session: what each source told of them, and the rules for them, stored once by hash; the session holds names and hashes. */
import { z } from "zod";
import { frozenText, type Frozen } from "#src/agents/snapshot.ts";
import { canonicalJson } from "#src/kernel/json.ts";
import { FROZEN_TYPE, type Blob, type BlobReader } from "#src/sessions/repository.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import type { SessionFields, ToolSnapshot } from "#src/sessions/session-fields.ts";
import { describedToolSchema, type DescribedTool, type ToolSourceState } from "./outside-tools.ts";
import { NO_POLICY, toolPolicySchema, type HeldPolicy, type ToolPolicy } from "./policy.ts";

/** A tool of a session, with its source. */
export interface FrozenTool extends DescribedTool {
  readonly source: string;
}

/** Freezes what the sources tell. One that cannot be asked keeps what `before` has of it; one that is gone loses it. */
export function freezeTools(
  states: readonly ToolSourceState[],
  policy: ToolPolicy,
  before?: ToolSnapshot,
): Frozen<ToolSnapshot> {
  const contents: Blob[] = [];
  const keep = (value: unknown): string => {
    const bytes = new TextEncoder().encode(canonicalJson(value));
    contents.push({ mimeType: FROZEN_TYPE, bytes });
    return sha256Of(bytes);
  };
  const sources = states.flatMap(({ name, state, tools }): ToolSnapshot["sources"] => {
    if (state !== "ready") return before?.sources.filter((had) => had.name === name) ?? [];
    if (tools.length === 0) return [];
    return [{ name, hash: keep(tools) }];
  });
  return { snapshot: { sources, ...(hasRules(policy) ? { policy: keep(policy) } : {}) }, contents };
}

/** Whether there is a rule at all. */
export function hasRules({ agents, all }: ToolPolicy): boolean {
  return [...Object.values(agents), ...all].some((rules) => Object.keys(rules).length > 0);
}

/** The rules of now beside those that a session began with; none where these are gone from the store, so that a person is asked. */
export async function heldPolicy(
  blobs: BlobReader,
  { owner, activeAgent: agent, toolSnapshot }: Pick<SessionFields, "owner" | "activeAgent" | "toolSnapshot">,
  now: ToolPolicy,
): Promise<HeldPolicy> {
  const hash = toolSnapshot?.policy;
  const text = hash === undefined ? undefined : await frozenText(blobs, owner, hash);
  const read = toolPolicySchema.safeParse(text?.ok === true ? JSON.parse(text.text) : undefined);
  return { agent, now, frozen: read.data ?? NO_POLICY };
}

/** The tools of a session, and the sources whose tools are gone from the store. */
export async function readTools(
  blobs: BlobReader,
  owner: string,
  { sources }: ToolSnapshot = { sources: [] },
): Promise<{ readonly tools: readonly FrozenTool[]; readonly gone: readonly string[] }> {
  const read = await Promise.all(
    sources.map(async ({ name, hash }) => {
      const text = await frozenText(blobs, owner, hash);
      const parsed = z.array(describedToolSchema).safeParse(text.ok ? JSON.parse(text.text) : undefined);
      return { name, tools: parsed.data };
    }),
  );
  return {
    tools: read.flatMap(({ name, tools = [] }) => tools.map((tool) => ({ ...tool, source: name }))),
    gone: read.flatMap(({ name, tools }) => (tools === undefined ? [name] : [])),
  };
}
