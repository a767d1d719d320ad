/** `/tools`, `/reload_tools`: what the model can call here, where it comes from, and how its sources tell of it now. */
import { differenceText } from "#src/agents/difference.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted, joined, markdownTable } from "#src/kernel/markdown.ts";
import type { ToolRow, ToolsBeside } from "#src/tools/session-tools.ts";
import type { PlainCommand } from "../command.ts";

export const toolsCommand: PlainCommand = {
  name: "tools",
  summary: "List the tools of this conversation, and whether their servers tell of others by now",
  usage: "/tools",
  effects: ["reads"],
  run: async (_args, { tools }) => toolsEnvelope(await tools.beside()),
};

/** Tools as a person is told of them. */
export function toolsEnvelope(beside: ToolsBeside): Envelope {
  const { rows, sources, gone, differs } = beside;
  const body = markdownTable(
    ["tool", "from", "state", "rule"],
    rows.map((row) => [row.name, row.from, stateText(row), ruleText(row)]),
  );
  const here = rows.filter(({ now }) => now !== "new").length;
  return done("tools", `${counted(here, "tool")} here.`, {
    data: {
      tools: rows.map(({ source: { annotations }, ...row }) => ({ ...row, annotations })),
      sources: sourcesData(sources),
      erased: gone,
      differs,
    },
    body: withProblems(body, beside),
    next: differs
      ? "Servers tell of other tools by now, or rules are others: /reload_tools shows how, and takes them over."
      : "mcpServers and tools in config.json add some.",
  });
}

export const reloadToolsCommand: PlainCommand = {
  name: "reload_tools",
  summary: "Take the tools over as their servers tell of them now",
  usage: "/reload_tools",
  effects: ["reads", "session"],
  async run(_args, { agents, session, tools }) {
    const beside = await tools.beside();
    const { now, differs, before, after, rows, sources } = beside;
    // Also where nothing differs: what was erased from the store comes back.
    await agents.keep(now.contents);
    const changed = rows
      .filter((row) => row.now !== "same")
      .map(({ name, now: how }) => ({ name, now: how }));
    const data = { changed, sources: sourcesData(sources) };
    const unapproved = (session.approvedTools ?? []).filter((name) =>
      rows.some((row) => row.name === name && row.now !== "same" && row.now !== "unknown"),
    );
    const told = [
      differenceText(before, after),
      markdownTable(
        ["tool", "rule until now", "rule from now on"],
        rows.flatMap(({ name, rule, looser }) =>
          looser === undefined ? [] : [[name, RULES[rule], RULES[looser]]],
        ),
      ),
      ...unapproved.map(
        (name) => `**${name}**: you are asked again, as it is not the tool that you let run.`,
      ),
    ];
    const body = withProblems(differs ? joined(told, "\n\n") : "", beside);
    if (!differs) return done("tools_same", "The tools are as they were; nothing changes.", { data, body });
    const message = "From now on this conversation has these tools; nothing else of it changed.";
    return {
      envelope: done("tools_reloaded", message, { data, body }),
      changes: { toolSnapshot: now.snapshot, ...(unapproved.length === 0 ? {} : { unapproved }) },
    };
  },
};

function sourcesData(sources: ToolsBeside["sources"]) {
  return sources.map(({ name, state, problems }) => ({ name, state, problems }));
}

const NOW: Record<ToolRow["now"], string> = {
  same: "ready",
  changed: "ready; changed since",
  gone: "gone since",
  new: "new since, not in this conversation",
  unknown: "its server does not answer",
};

function stateText({ now, hasRoom }: ToolRow): string {
  return hasRoom ? NOW[now] : `${NOW[now]}; has no room in prompts`;
}

const RULES: Record<ToolRow["rule"], string> = {
  allow: "runs",
  ask: "you are asked",
  deny: "does not run",
  always: "runs, as you said in this conversation",
};

function ruleText({ rule, looser }: ToolRow): string {
  return looser === undefined ? RULES[rule] : `${RULES[rule]}; after /reload_tools ${RULES[looser]}`;
}

/** With what does not work, and why, below. */
function withProblems(body: string, { sources, gone }: Pick<ToolsBeside, "sources" | "gone">): string {
  const told = markdownTable(
    ["source", "problem"],
    [
      ...sources.flatMap(({ name, problems }) => problems.map((problem) => [name, problem])),
      ...gone.map((name) => [
        name,
        "its tools were erased from this conversation; /reload_tools brings them back",
      ]),
    ],
  );
  return joined([body, told], "\n\n");
}
