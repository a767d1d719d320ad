/** The kinds of turns that are broken at every point: what was said before, the message itself, what comes after it. */
import { createManualClock, type ManualClock } from "#src/kernel/clock.ts";
import type { SubjectMessage } from "./subject.ts";

/** One kind of turn. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Parts of `config.json`. */
  readonly config?: object;
  /** Sent, and answered, before anything fails. */
  readonly before: readonly SubjectMessage[];
  /** Time between the last of them and the message. */
  readonly afterHours?: number;
  /** The message during which everything fails once. */
  readonly act: SubjectMessage;
  /** What is stored of `act` once it was delivered again: a turn, a rotation without one, or nothing. */
  readonly leaves: "turn" | "rotation" | "nothing";
  /** Sessions of the key in the end. */
  readonly sessions: number;
}

const SEMANTIC = { rollover: { semantic: { enabled: true, minTurns: 1, cooldown: 0 } } };
const HELLO: SubjectMessage = { id: "d1", text: "hello" };
const act = (text: string, more: Partial<SubjectMessage> = {}): SubjectMessage => ({
  id: "d9",
  text,
  ...more,
});
const said = (...texts: string[]): SubjectMessage[] =>
  texts.map((text, index) => ({ id: `d${index + 1}`, text }));

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "first",
    title: "the first message of a key",
    before: [],
    act: act("good morning"),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "chat",
    title: "a message that is answered",
    before: said("hello", "and more"),
    act: act("how are you"),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "tools",
    title: "a message that two tools are called for",
    before: [HELLO],
    act: act("tools please"),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "command",
    title: "a command that changes the session",
    before: [HELLO],
    act: act("/title Plans"),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "read",
    title: "a command that reads",
    before: [HELLO],
    act: act("/status"),
    leaves: "nothing",
    sessions: 1,
  },
  {
    name: "rotation-with-text",
    title: "a rotation with text",
    before: [HELLO],
    act: act("/new and a question"),
    leaves: "turn",
    sessions: 2,
  },
  {
    name: "rotation",
    title: "a rotation without text",
    before: [HELLO],
    act: act("/new"),
    leaves: "rotation",
    sessions: 2,
  },
  {
    name: "idle",
    title: "a rotation by time",
    before: [HELLO],
    afterHours: 13,
    act: act("good evening"),
    leaves: "turn",
    sessions: 2,
  },
  {
    name: "topic",
    title: "a rotation by topic",
    config: SEMANTIC,
    before: said("my taxes"),
    act: act("other thing: bikes"),
    leaves: "turn",
    sessions: 2,
  },
  {
    name: "reversal",
    title: "a rotation by topic that is undone by itself",
    config: SEMANTIC,
    before: said("my taxes", "other thing: bikes"),
    act: act("back to taxes"),
    leaves: "turn",
    sessions: 3,
  },
  {
    name: "rejoin",
    title: "a rotation that the user undoes",
    before: said("hello", "/new question"),
    act: act("/rejoin both of them"),
    leaves: "turn",
    sessions: 3,
  },
  {
    name: "resume",
    title: "an earlier session that is resumed",
    before: said("hello", "/new question", "more"),
    act: act("/resume 1"),
    leaves: "rotation",
    sessions: 3,
  },
  {
    name: "failure",
    title: "a message whose model fails",
    before: [HELLO],
    act: act("fail please"),
    leaves: "nothing",
    sessions: 1,
  },
  {
    name: "abort",
    title: "an answer that the user stops",
    before: [HELLO],
    act: act("slow please", { stops: true }),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "repeat",
    title: "a message that was answered before",
    before: [HELLO],
    act: HELLO,
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "legacy",
    title: "/new with text in legacy mode",
    config: { lifecycle: { mode: "legacy" } },
    before: [HELLO],
    act: act("/new and a question"),
    leaves: "turn",
    sessions: 1,
  },
];

/** @throws when there is none of that name */
export function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found !== undefined) return found;
  throw new Error(`there is no scenario ${name}; there are ${SCENARIOS.map(({ name }) => name).join(", ")}`);
}

const HOUR = 3_600_000;
/** A Sunday morning in UTC. */
const START = Date.parse("2026-03-01T09:00:00.000Z");

/** The clock of each part of a scenario: what was before, the message, and what comes after a crash. */
export function clockOf(scenario: Scenario, part: "before" | "act" | "after"): ManualClock {
  const hours = part === "before" ? 0 : (scenario.afterHours ?? 0.1);
  return createManualClock(START + hours * HOUR + (part === "after" ? 60_000 : 0));
}

/** A lease that nobody gave back has run out when the program is started again. */
export function leaseClockAfter(scenario: Scenario): ManualClock {
  return createManualClock(clockOf(scenario, "after").now() + HOUR);
}
