/** Rollover verdicts in plain words, with the numbers that made them and who decided. */
import { quoted } from "#src/kernel/markdown.ts";
import { localTime } from "#src/kernel/clock.ts";
import type {
  ControlModel,
  RotateVerdict,
  SemanticFinding,
  StayVerdict,
  Verdict,
} from "#src/sessions/verdict.ts";
import { durationText } from "./duration-text.ts";

/** The reason of a verdict, as the end of a sentence: `13 h since your last message (limit 12 h)`. */
export function verdictText(verdict: Verdict, timeZone: string): string {
  return verdict.action === "rotate" ? rotateText(verdict) : stayText(verdict, timeZone);
}

function rotateText(verdict: RotateVerdict): string {
  switch (verdict.trigger) {
    case "command":
      return `you asked for it with ${verdict.command}`;
    case "idle":
      return `${durationText(verdict.idleMs)} since the last turn (limit ${durationText(verdict.limitMs)})`;
    case "dayBoundary": {
      const day = localTime(verdict.boundaryAt, verdict.timeZone);
      return `the day ended at ${day} ${verdict.timeZone}, ${durationText(verdict.idleMs)} since the last turn`;
    }
    case "semantic":
      return `the topic changed (${confidenceText(verdict)})`;
    case "reversal":
      return `what you said since belongs to the conversation before (${confidenceText(verdict)})`;
    case "replay":
      return `you went back to turn ${verdict.turns} of the conversation`;
  }
}

function confidenceText(verdict: Extract<RotateVerdict, { confidence: number }>): string {
  const { confidence, decidedBy, threshold } = verdict;
  const who = decidedBy.level === "built-in" ? "the built-in classifier" : decidedBy.model;
  return `confidence ${confidence.toFixed(2)}, threshold ${threshold.toFixed(2)}, by ${who}`;
}

function stayText(verdict: StayVerdict, timeZone: string): string {
  const due = verdict.dueAt === undefined ? "" : `; ends at ${localTime(verdict.dueAt, timeZone)}`;
  const topic = verdict.semantic === undefined ? "" : semanticText(verdict.semantic);
  switch (verdict.reason) {
    case "empty":
      return "the session has no turn yet";
    case "off":
      return `rollover by time is off${topic}`;
    case "clockBehind":
      return `the clock stands before the last turn, which counts as now${due}${topic}`;
    case "withinWindow":
      return `${durationText(verdict.idleMs)} since the last turn${limitText(verdict)}${due}${topic}`;
  }
}

function limitText(verdict: StayVerdict): string {
  return verdict.limitMs === undefined ? "" : ` (limit ${durationText(verdict.limitMs)})`;
}

function semanticText(finding: SemanticFinding): string {
  if (finding.result === "off") return "";
  return `; change of topic: ${findingText(finding)}`;
}

function findingText(finding: SemanticFinding): string {
  const at = finding.confidence === undefined ? "" : ` at ${finding.confidence.toFixed(2)}`;
  const why = finding.why === undefined ? "" : ` (${finding.why})`;
  switch (finding.result) {
    case "off":
      return "not looked at";
    case "tooShort":
      return `not looked at yet${why}`;
    case "cooldown":
      return "not looked at so soon after the last one";
    case "unknown":
      return `unknown${why}`;
    case "same":
      return `none${at}`;
    case "unconfirmed":
      return `likely${at}, but not confirmed yet`;
    case "notReversed":
      return `the new topic goes on${at}`;
  }
}

/** Why a conversation ended, as a sentence for its own thread. */
export function endingText(verdict: RotateVerdict): string {
  return `This conversation ended: ${rotateText(verdict)}.`;
}

/** Why a conversation began, as a sentence for its own thread: also where a command asked for it. */
export function beginningText(verdict: RotateVerdict): string {
  if (verdict.trigger !== "command") return rolloverAnnouncement(verdict);
  return `This conversation began: ${rotateText(verdict)}.`;
}

/** The announcement of a rollover that happened by itself; of a task that goes on in the new conversation, how to leave it. */
export function rolloverAnnouncement(verdict: RotateVerdict, task?: string): string {
  const going = task === undefined ? "" : ` The task ${quoted(task)} goes on; /task none leaves it.`;
  return `${beganText(verdict)}${going}`;
}

function beganText(verdict: RotateVerdict): string {
  const reason = rotateText(verdict);
  switch (verdict.trigger) {
    case "reversal":
      return `The conversation before goes on: ${reason}. /new begins a new one.`;
    case "replay":
      return `A new conversation goes on from there: ${reason}. /resume brings the other one back.`;
    default:
      return `A new conversation began: ${reason}. /rejoin undoes it.`;
  }
}

/** Who decides, and by whose word: `openai:gpt-4o-mini decides (configured for all agents)`. */
export function controlModelText({ level, model }: ControlModel): string {
  const who = level === "built-in" || model === "built-in" ? "The built-in classifier" : model;
  return `${who} decides (${levelText(level)})`;
}

function levelText(level: ControlModel["level"]): string {
  switch (level) {
    case "session":
      return "you chose it";
    case "agent":
      return "configured for this agent";
    case "defaults":
      return "configured for all agents";
    case "built-in":
      return "no control model is configured";
  }
}
