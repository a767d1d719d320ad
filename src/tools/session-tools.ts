/** The tools of a session for its commands: as it has them, and as their sources tell of them now. */
import type { Frozen } from "#src/agents/snapshot.ts";
import { canonicalJson } from "#src/kernel/json.ts";
import type { BlobReader } from "#src/sessions/repository.ts";
import type { SessionFields, ToolSnapshot } from "#src/sessions/session-fields.ts";
import { BUILT_IN, type OutsideTools, type ToolSourceState } from "./outside-tools.ts";
import { heldRule, layersOf, toolRule, type HeldPolicy, type ToolPolicy, type ToolRule } from "./policy.ts";
import { toolSource, type ToolSource } from "./tool-source.ts";
import { freezeTools, heldPolicy, readTools, type FrozenTool } from "./tool-snapshot.ts";

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

type Judged = Omit<ToolRow, "rule" | "looser" | "hasRoom">;

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
export function createSessionTools({
  outside,
  blobs,
  session,
  own,
  policy,
  withoutRoom,
}: SessionToolsDeps): SessionTools {
  const { owner, activeAgent: agent, toolSnapshot: had, approvedTools = [] } = session;
  const judge = (row: Judged, held: HeldPolicy, without: readonly string[]): ToolRow => {
    const rule = heldRule(held, row);
    const now = toolRule(layersOf(policy, agent), row);
    const isAlways = rule === "ask" && approvedTools.includes(row.name);
    return {
      ...row,
      rule: isAlways ? "always" : rule,
      ...(now === rule ? {} : { looser: now }),
      hasRoom: !without.includes(row.name),
    };
  };
  return {
    differs: () => isOther(freezeTools(outside?.known() ?? [], policy, had).snapshot, had),
    async beside() {
      const states = (await outside?.list({ isAsked: true })) ?? [];
      const { tools, gone } = await readTools(blobs, owner, had);
      const now = freezeTools(states, policy, had);
      const held = await heldPolicy(blobs, session, policy);
      const without = await withoutRoom();
      const told = states.flatMap(({ name, tools: some }) => some.map((tool) => ({ ...tool, source: name })));
      const kept = tools.filter(({ source }) =>
        states.some(({ name, state }) => name === source && state !== "ready"),
      );
      return {
        rows: [...own.map(ownRow), ...rowsOf(tools, told, states)].map((row) => judge(row, held, without)),
        sources: states,
        gone,
        now,
        differs: isOther(now.snapshot, had),
        before: textsOf(tools),
        after: textsOf([...told, ...kept]),
      };
    },
  };
}

function isOther(now: ToolSnapshot, had: ToolSnapshot = { sources: [] }): boolean {
  return canonicalJson(now) !== canonicalJson(had);
}

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
  const rows = had.map((tool): Judged => {
    const isAsked = states.find(({ name }) => name === tool.source)?.state !== "failed";
    const now = told.find(({ source, name }) => source === tool.source && name === tool.name);
    const same = now !== undefined && canonicalJson(now) === canonicalJson(tool);
    return rowOf(tool, same ? "same" : now !== undefined ? "changed" : isAsked ? "gone" : "unknown");
  });
  const isNew = told.filter(
    (tool) => !had.some(({ source, name }) => source === tool.source && name === tool.name),
  );
  return [...rows, ...isNew.map((tool) => rowOf(tool, "new"))];
}

function rowOf(tool: FrozenTool, now: ToolRow["now"]): Judged {
  const { name, description, source: from } = tool;
  return { name, description, from, source: sourceOf(tool), now };
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
