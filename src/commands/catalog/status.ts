/** `/status`: which session this is, what it rests on, and the rollover decision with its numbers. */
import { done } from "#src/kernel/envelope.ts";
import { defined } from "#src/kernel/json.ts";
import { counted, joined, markdownFacts } from "#src/kernel/markdown.ts";
import { controlModelText, verdictText } from "#src/explain/verdict-text.ts";
import { sessionSetup, type SessionSetup } from "#src/explain/session-document.ts";
import { localTime } from "#src/kernel/clock.ts";
import { decideTemporal } from "#src/sessions/decide-rollover.ts";
import type { CommandContext, PlainCommand } from "../command.ts";
import { unansweredText } from "../unanswered-message.ts";
import { openedBecause } from "./sessions.ts";

export const statusCommand: PlainCommand = {
  name: "status",
  summary: "Show this conversation, its rules and the latest decision",
  usage: "/status",
  effects: ["reads"],
  async run(_args, context) {
    const { session, entry, chain } = context;
    const next = decideTemporal(session, context.policy, context.nowMs);
    const zone = context.policy.timeZone;
    const due = next.action === "rotate";
    const left = await context.unanswered?.();
    const message = joined([
      `Session ${entry.ordinal} of ${chain.sessionKey}, ${counted(session.turns, "turn")}.`,
      `${due ? "It ends with your next message" : "It goes on"}: ${verdictText(next, zone)}.`,
      left && unansweredText(left, { timeZone: zone, nowMs: context.nowMs }),
    ]);
    const differs = {
      persona: (await context.agents.persona()).differs,
      skills: (await context.agents.skills()).differs,
      tools: context.tools.differs(),
    };
    const document = sessionSetup(session, {
      entry,
      isDue: due,
      solver: context.solver,
      plugins: context.plugins.used,
    });
    const shown = { state: document.state, ...facts(context, differs) };
    const data = {
      ...shown,
      document,
      next: { due, ...next },
      ...defined({ unanswered: left }),
    };
    return done("status", message, { data, body: factsText(shown) });
  },
};

function factsText(status: ReturnType<typeof facts> & Pick<SessionSetup, "state">): string {
  const { created, lastDecision, mode, model, topicUnknown } = status;
  const unknown = topicUnknown === 0 ? "" : `; ${topicUnknown} times without a finding`;
  return markdownFacts([
    ["state", status.state],
    ["title", status.title],
    ["task", status.task],
    [
      "answers",
      `${model === "symbolic" ? "without a model" : model}${status.modelChosen ? " (you chose it)" : ""}`,
    ],
    ["began", created === null ? "with your first message" : `${created}, ${status.openedBecause}`],
    ["last turn", status.lastActivity],
    ["ends", status.expires],
    [
      "decision",
      lastDecision === null
        ? null
        : `${lastDecision.action === "rotate" ? "began anew" : "went on"}: ${lastDecision.text}`,
    ],
    ["topic", status.topicRollover ? `${status.controlModel}${unknown}` : null],
    ["mode", mode === "segmented" ? null : `${mode}: one session, which /new clears in place`],
    ["time zone", status.timeZone],
    ["agent", status.agent],
    ["persona", filesText(status.persona.join(", ") || "none", "persona", status.differs)],
    ["skills", filesText(String(status.skills), "skills", status.differs)],
    ["tools", status.differs.tools ? "others by now: /tools tells, /reload_tools takes them over" : null],
    ["style", status.style],
    ["reasoning", status.reasoning],
    ["verbosity", status.verbosity],
    ["tools without a question", status.approvedTools.join(", ") || null],
    ["session id", status.sessionId],
    ["data", status.storage],
  ]);
}

type Differs = Readonly<Record<"persona" | "skills" | "tools", boolean>>;

function filesText(what: string, name: "persona" | "skills", differs: Differs): string {
  return differs[name] ? `${what}; the files differ by now: /reload_${name} takes them over` : what;
}

function facts(context: CommandContext, differs: Differs) {
  const { session, entry, chain, verdict } = context;
  const zone = context.policy.timeZone;
  const shown = (instant: string | null): string | null =>
    instant === null ? null : localTime(instant, zone);
  return {
    // Before the first message there is none yet.
    sessionId: chain.revision === 0 ? null : session.sessionId,
    ordinal: entry.ordinal,
    sessions: chain.sessions.length,
    latest: chain.latest === session.sessionId,
    sessionKey: chain.sessionKey,
    owner: chain.owner,
    title: session.title ?? entry.title ?? null,
    task: session.task ?? null,
    agent: session.activeAgent,
    model: context.solver,
    modelChosen: session.modelConfig.chosen,
    mode: context.mode,
    controlModel: controlModelText(context.controlModel),
    controlModelLevel: context.controlModel.level,
    topicRollover: context.policy.semantic.enabled,
    topicUnknown: session.unknownTopics ?? 0,
    contextFrom: session.contextFrom ?? null,
    persona: (session.persona?.files ?? []).map(({ name }) => name),
    skills: session.skillSnapshot.skills.length,
    differs,
    style: session.style ?? null,
    reasoning: session.modelConfig.reasoning ?? context.configured.reasoning ?? null,
    verbosity: session.modelConfig.verbosity ?? context.configured.verbosity ?? null,
    approvedTools: session.approvedTools ?? [],
    turns: session.turns,
    continues: entry.continues,
    timeZone: zone,
    created: shown(session.createdAt),
    lastActivity: shown(session.lastActivityAt),
    expires: shown(session.expiresAt),
    openedBecause: openedBecause(entry, zone),
    lastDecision: verdict === null ? null : { text: verdictText(verdict, zone), ...verdict },
    storage: context.storage,
  };
}
