/** The tools of a session: frozen when it begins, by hash, with the rules for them; and for its commands, beside what their sources tell of them now. */
import { freezer, type Frozen, thaw } from "#src/agents/snapshot.ts";
import {
  BUILT_IN,
  type DescribedTool,
  describedToolSchema,
  type OutsideTools,
  type ToolSourceState,
} from "./outside-tools.ts";
import {
  type HeldPolicy,
  heldRule,
  layersOf,
  NO_POLICY,
  type ToolPolicy,
  toolPolicySchema,
  type ToolRule,
  toolRule,
  type ToolSource,
  toolSource,
} from "./policy.ts";
import { z } from "zod";
import { canonicalJson } from "#src/kernel/json.ts";
import type { BlobReader } from "#src/sessions/repository.ts";
import type { SessionFields, ToolSnapshot } from "#src/sessions/session-fields.ts";

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
  const { contents, keep } = freezer();
  const sources = states.flatMap(({ name, state, tools }): ToolSnapshot["sources"] => {
    if (state !== "ready") return before?.sources.filter((had) => had.name === name) ?? [];
    if (tools.length === 0) return [];
    return [{ name, hash: keep(canonicalJson(tools)) }];
  });
  return {
    snapshot: { sources, ...(hasRules(policy) ? { policy: keep(canonicalJson(policy)) } : {}) },
    contents,
  };
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
  const read = await thaw(blobs, owner, { hash: toolSnapshot?.policy, schema: toolPolicySchema });
  return { agent, now, frozen: read.ok ? read.value : NO_POLICY };
}

/** The tools of a session, and the sources whose tools are gone from the store. */
export async function readTools(
  blobs: BlobReader,
  owner: string,
  { sources }: ToolSnapshot = { sources: [] },
): Promise<{ readonly tools: readonly FrozenTool[]; readonly gone: readonly string[] }> {
  const schema = z.array(describedToolSchema);
  const read = await Promise.all(sources.map(({ hash }) => thaw(blobs, owner, { hash, schema })));
  return {
    tools: sources.flatMap(({ name: source }, index) => {
      const had = read[index];
      return had?.ok === true ? had.value.map((tool) => ({ ...tool, source })) : [];
    }),
    gone: sources.filter((_, index) => read[index]?.ok !== true).map(({ name }) => name),
  };
}

/** A tool beside how its source tells of it now. */
export interface ToolRow {
  readonly name: string;
  /** The server, `built in`, `Lily`, or `the program`. */
  readonly from: string;
  readonly description: string;
  readonly source: ToolSource;
  /** `new`: not in this session; `unknown`: its source cannot be asked. */
  readonly now: "same" | "changed" | "gone" | "new" | "unknown";
  /** `always`: the person said so, in this session. */
  readonly rule: ToolRule | "always";
  /** A looser rule of now, which a reload takes over. */
  readonly looser?: ToolRule;
  /** Descriptions have a share of each prompt; what does not fit is not offered. */
  readonly hasRoom: boolean;
}

/** Tools beside their sources. */
export interface ToolsBeside {
  readonly rows: readonly ToolRow[];
  readonly sources: readonly Pick<ToolSourceState, "name" | "state" | "problems">[];
  /** Sources whose tools were erased from this session. */
  readonly gone: readonly string[];
  /** What a reload would make of the session. */
  readonly now: Frozen<ToolSnapshot>;
  readonly differs: boolean;
  /** What is told of each tool, before and after a reload; for the difference. */
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

/** What commands are given. */
export interface SessionTools {
  /** With sources asked, begun where they are not. */
  beside(): Promise<ToolsBeside>;
  /** Whether the session's tools differ from what is known by now. Begins nothing. */
  differs(): boolean;
}

/** What they are made of. */
export interface SessionToolsDeps {
  readonly outside: OutsideTools | undefined;
  readonly blobs: BlobReader;
  readonly session: Pick<SessionFields, "owner" | "activeAgent" | "toolSnapshot" | "approvedTools">;
  /** Tools that come with the program; they change with it alone. */
  readonly own: readonly { readonly name: string; readonly description: string }[];
  /** Rules as they are now. */
  readonly policy: ToolPolicy;
  /** Names of those that have no room in prompts. */
  readonly withoutRoom: () => Promise<readonly string[]>;
}

/** Makes them for a session. */
export function createSessionTools(deps: SessionToolsDeps): SessionTools {
  const { outside, blobs, session, own, policy, withoutRoom } = deps;
  const { owner, activeAgent, toolSnapshot: had, approvedTools = [] } = session;
  const isOther = (now: ToolSnapshot): boolean =>
    canonicalJson(now) !== canonicalJson(had ?? { sources: [] });
  return {
    differs: () => isOther(freezeTools(outside?.known() ?? [], policy, had).snapshot),
    async beside() {
      const states = (await outside?.list({ isAsked: true })) ?? [];
      const { tools, gone } = await readTools(blobs, owner, had);
      const now = freezeTools(states, policy, had);
      const held = await heldPolicy(blobs, session, policy);
      const without = await withoutRoom();
      const told = states.flatMap(({ name: source, tools: some }) =>
        some.map((tool) => ({ ...tool, source })),
      );
      const kept = tools.filter(({ source }) =>
        states.some(({ name, state }) => name === source && state !== "ready"),
      );
      return {
        rows: [...own.map(ownRow), ...rowsOf(tools, told, states)].map((row) => {
          const rule = heldRule(held, row);
          const looser = toolRule(layersOf(policy, activeAgent), row);
          return {
            ...row,
            rule: rule === "ask" && approvedTools.includes(row.name) ? "always" : rule,
            ...(looser === rule ? {} : { looser }),
            hasRoom: !without.includes(row.name),
          };
        }),
        sources: states,
        gone,
        now,
        differs: isOther(now.snapshot),
        before: textsOf(tools),
        after: textsOf([...told, ...kept]),
      };
    },
  };
}

type Judged = Omit<ToolRow, "rule" | "looser" | "hasRoom">;

function ownRow(tool: { readonly name: string; readonly description: string }): Judged {
  const source = toolSource(tool);
  const { name, description } = tool;
  return { name, description, source, from: source.from === "lily" ? "Lily" : "the program", now: "same" };
}

function rowsOf(
  had: readonly FrozenTool[],
  told: readonly FrozenTool[],
  states: readonly ToolSourceState[],
): Judged[] {
  const sameIn = (tools: readonly FrozenTool[], { source, name }: FrozenTool): FrozenTool | undefined =>
    tools.find((one) => one.source === source && one.name === name);
  const rowOf = (tool: FrozenTool, now: ToolRow["now"]): Judged => {
    const { name, description, source: from } = tool;
    return { name, description, from, source: sourceOf(tool), now };
  };
  const rows = had.map((tool) => {
    const now = sameIn(told, tool);
    if (now !== undefined)
      return rowOf(tool, canonicalJson(now) === canonicalJson(tool) ? "same" : "changed");
    const isSilent = states.some(({ name, state }) => name === tool.source && state === "failed");
    return rowOf(tool, isSilent ? "unknown" : "gone");
  });
  const added = told.filter((tool) => sameIn(had, tool) === undefined);
  return [...rows, ...added.map((tool) => rowOf(tool, "new"))];
}

/** Where a tool of a session comes from, by what the session has of it. */
export function sourceOf({ source, tool, annotations }: FrozenTool): ToolSource {
  const hints = toolSource({ metadata: { annotations } });
  if (source === BUILT_IN) return { ...hints, from: "built-in", tool };
  return { ...hints, from: "server", server: source, tool };
}

/** One text a tool, whose lines are its description and its arguments. */
function textsOf(tools: readonly FrozenTool[]): Record<string, string> {
  return Object.fromEntries(
    tools.map(({ name, description, schema, annotations }) => [
      name,
      [description, JSON.stringify({ arguments: schema, annotations }, null, 2)].join("\n"),
    ]),
  );
}
