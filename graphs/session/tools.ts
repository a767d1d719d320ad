/** The tools of a session: taken when it begins, offered to its model, run. */
import type { GivenTurns } from "#src/sessions/call-receipt.ts";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { z } from "zod";
import { type Frozen, skillTextsSchema, thaw, withContents } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { shareOf } from "#src/context/plan-context.ts";
import { type RecalledPiece, recalledText, recallTurns } from "#src/context/recall.ts";
import { estimateTokens } from "#src/kernel/text.ts";
import type { BlobReader, SessionRepository } from "#src/sessions/repository.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { SessionFields, ToolSnapshot } from "#src/sessions/session-fields.ts";
import { heldRule, OWN_READS, sourceMetadata, toolSource } from "#src/tools/policy.ts";
import {
  createSessionTools,
  freezeTools,
  hasRules,
  heldPolicy,
  readTools,
  type SessionTools,
  sourceOf,
} from "#src/tools/session-tools.ts";
import { readResult, type ResultKeeper } from "./kept-results.ts";
import { type LedgerScope, ledgerTools } from "./ledger-tools.ts";
import { memoryTools, type MemoryToolScope } from "./memory-tools.ts";
import { memoryOwner } from "./run-memory.ts";

/** Arguments of `session_recall`. */
const recallArguments = z.object({
  query: z.string().min(1).describe("Words to look for in what was said earlier"),
  rationale: z.string().min(1).describe("Why the answer needs it; shown to the user"),
});

/** Arguments of `read_result`. */
const resultArguments = z.object({
  name: z.string().min(1).describe("The name that the shortened result tells"),
  from: z.int().min(0).default(0).describe("First character to read"),
  length: z.int().min(1).default(8_000).describe("How many characters to read"),
});

/** Arguments of `read_skill`. */
const skillArguments = z.object({
  name: z.string().min(1).describe("The name of the skill, as it is listed"),
  file: z
    .string()
    .min(1)
    .default("SKILL.md")
    .describe("Another file of the skill, by the path that its text tells"),
});

/** What a tool works on: never taken from its arguments. */
interface ToolScope {
  readonly repository: SessionRepository;
  readonly chain: Chain;
  /** Turns that the model is shown. */
  readonly held: GivenTurns[];
  /** Most characters of what is recalled at once. */
  readonly recallCharacters: number;
  readonly timeZone: string;
  /** Results that were too big for the conversation. */
  readonly results: ResultKeeper;
  /** Tasks and decisions of the conversation. */
  readonly ledger: LedgerScope;
  /** What a skill of the session says; absent where it has none. */
  readonly readSkill?: ((asked: z.infer<typeof skillArguments>) => Promise<string>) | undefined;
  /** Memory of the owner; absent where the model is offered no tools for it. */
  readonly memory?: MemoryToolScope | undefined;
  /** Told of each piece that was read. */
  readonly onRecalled: (pieces: readonly RecalledPiece[]) => void;
}

const RECALL = {
  name: "session_recall",
  description:
    "Looks for something said earlier: in the user's archived conversations, and in what of this one is no longer shown. " +
    "Use it only when the user refers to something that you are not shown.",
  schema: recallArguments,
  metadata: OWN_READS,
};

const READ_RESULT = {
  name: "read_result",
  description:
    "Reads on in a tool result that was too long to be shown whole. Use the name that the shortened result tells.",
  schema: resultArguments,
  metadata: OWN_READS,
};

const READ_SKILL = {
  name: "read_skill",
  description: "Gives the instructions of a listed skill. Read them before you do what the skill is for.",
  schema: skillArguments,
  metadata: OWN_READS,
};

/** Names that Lily's tools had before, in records and in calls that were open when the program was renewed. */
const EARLIER: Readonly<Record<string, string>> = {
  recall_history: "session_recall",
  search_memory: "memory_search",
  remember: "memory_remember",
};

/** The tool that a call names, by a name that it has or had. */
export function toolNamed(
  tools: readonly StructuredToolInterface[],
  called: string,
): StructuredToolInterface | undefined {
  const named = (wanted: string | undefined) => tools.find(({ name }) => name === wanted);
  return named(called) ?? (Object.hasOwn(EARLIER, called) ? named(EARLIER[called]) : undefined);
}

/** Lily's tools and those of the application. Without a scope they can be described to a model, not run. */
export function sessionTools(
  others: readonly StructuredToolInterface[],
  scope?: ToolScope,
  offers = { memory: scope?.memory !== undefined, skills: scope?.readSkill !== undefined },
): StructuredToolInterface[] {
  return [
    tool(async (args) => (scope === undefined ? "" : recall(scope, args)), RECALL),
    tool(async (args) => (scope === undefined ? "" : readResult(scope.results, args)), READ_RESULT),
    ...ledgerTools(scope?.ledger),
    ...(offers.skills ? [tool(async (args) => scope?.readSkill?.(args) ?? "", READ_SKILL)] : []),
    ...(offers.memory ? memoryTools(scope?.memory) : []),
    ...others,
  ];
}

async function recall(scope: ToolScope, args: z.infer<typeof recallArguments>): Promise<string> {
  const { repository, chain, held, recallCharacters: characters, timeZone } = scope;
  const pieces = await recallTurns(repository, { chain, held, characters, ...args });
  scope.onRecalled(pieces);
  return pieces.length === 0
    ? "Nothing was found that is not shown already."
    : recalledText(pieces, timeZone);
}

/**
 * The tools of a session that begins, and the rules for them. No server is begun for one whose model is offered none, or
 * that is not there yet; `undefined` where there is nothing of both.
 */
export async function toolsToFreeze(
  { outside, agents: { offersTools, defaultModel, toolPolicy } }: SessionDeps,
  begins: { readonly agent: string; readonly model: string | null; readonly isStored?: boolean },
): Promise<Frozen<ToolSnapshot> | undefined> {
  const { agent, model, isStored = true } = begins;
  const isOffered = isStored && offersTools(agent) && (model ?? defaultModel(agent)) !== "symbolic";
  const states = isOffered ? await outside?.list() : undefined;
  if (states === undefined && !hasRules(toolPolicy)) return undefined;
  return freezeTools(states ?? [], toolPolicy);
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
function offersOf(
  deps: SessionDeps,
  session: SessionFields,
): { readonly memory: boolean; readonly skills: boolean } {
  return {
    memory: deps.memory.tool && memoryOwner(deps, session) !== undefined,
    skills: session.skillSnapshot.skills.length > 0,
  };
}

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
    if (!deps.agents.offersTools(session.activeAgent)) return NO_TOOLS;
    const offers = offersOf(deps, session);
    const { owner, toolSnapshot } = session;
    const set = [offers, session.activeAgent, toolSnapshot === undefined ? null : [owner, toolSnapshot]];
    const key = JSON.stringify(set);
    const known = made.get(key);
    if (known !== undefined) return known;
    const others = [...(deps.tools ?? []), ...(await outsideTools(deps, blobs, session))];
    const policy = await heldPolicy(blobs, session, deps.agents.toolPolicy);
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
    policy: deps.agents.toolPolicy,
    withoutRoom: async () => {
      const { tools, tokens } = await offeredTools(deps)(session, blobs);
      const model = session.modelConfig.model ?? deps.agents.defaultModel(agent);
      const room = shareOf("tools", deps.windows.budgetOf(model, deps.agents.contextOf(agent)));
      let taken = 0;
      const first = tokens.findIndex((size) => (taken += size) > room);
      return first === -1 ? [] : tools.slice(first).map(({ name }) => name);
    },
  });
}

/** Tools as a session would have them that began now. */
export async function toolsOfNone(deps: SessionDeps): Promise<SessionTools> {
  const states = (await deps.outside?.list({ isAsked: true })) ?? [];
  const policy = deps.agents.toolPolicy;
  const { snapshot, contents } = freezeTools(states, policy);
  return createSessionTools({
    // They have just been asked.
    outside: deps.outside && { ...deps.outside, list: async () => states },
    blobs: withContents(contents),
    session: { owner: deps.localOwner, activeAgent: deps.agents.defaultAgent, toolSnapshot: snapshot },
    own: sessionTools(deps.tools ?? [], undefined, { memory: deps.memory.tool, skills: true }),
    policy,
    withoutRoom: async () => [],
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
