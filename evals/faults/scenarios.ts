/** The kinds of turns that are broken at every point: what was said before, the message itself, what comes after it. */
import { createManualClock, type ManualClock } from "#src/kernel/clock.ts";
import type { ErrorCode } from "#src/kernel/errors.ts";
import type { SubjectMessage } from "./subject-message.ts";
import type { THINKING } from "./thinking.ts";

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
  /** It is told as failed also where nothing is broken. */
  readonly actFails?: boolean;
  /** The model cannot be reached during the message; afterwards it can. */
  readonly isModelDown?: boolean;
  /**
   * How it is refused when it is sent again although it took effect, because what it asks for is done: the rule of
   * commands whose effect is outside the conversation.
   */
  readonly refusedOnceDone?: ErrorCode;
  /** Sent again, it is a person's decision anew, and its call is carried out again. */
  readonly decidesAnew?: boolean;
  /** What led to the first call of the model is stored while it thinks, if it thinks for long, and not before. */
  readonly thinks?: keyof typeof THINKING;
  /** What was sent together is sent again one by one, each after the reply to the one before. */
  readonly againApart?: boolean;
  /** Its text cannot be a long one, which a full disk is tried with. */
  readonly isShort?: boolean;
  /** Turns whose checkpoints are kept. */
  readonly keepTurns?: number;
  /** What is stored of `act` once it was delivered again: a turn, a rotation without one, or nothing. */
  readonly leaves: "turn" | "rotation" | "nothing";
  /** Sessions of the key in the end. */
  readonly sessions: number;
  /** Deliveries whose turns it erases. */
  readonly erased?: readonly string[];
  /** Facts that memory holds in the end. */
  readonly facts?: number;
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

/** Messages that are sent with the one that fails. */
const sentWith = (...texts: string[]): SubjectMessage[] =>
  texts.map((text, index) => ({ id: `d9.${index + 1}`, text }));
const ASK: SubjectMessage = { id: "d2", text: "ask me" };

const STORED_BEFORE: readonly Scenario[] = [
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
    actFails: true,
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
  {
    name: "failure-once",
    title: "a message whose model fails and can be reached later",
    before: [HELLO],
    act: act("are you there"),
    actFails: true,
    isModelDown: true,
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "failure-after-tools",
    title: "a message whose model fails once tools have run, and can be reached later",
    before: [HELLO],
    act: act("tools please"),
    actFails: true,
    isModelDown: true,
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "collected",
    title: "messages that are collected into one turn",
    config: { arrivals: { mode: "collect" } },
    before: [HELLO],
    act: act("one thing", { together: sentWith("another", "and a third") }),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "collected-tools",
    title: "messages that are collected into one turn with tools, and come again one by one",
    config: { arrivals: { mode: "collect" } },
    before: [HELLO],
    act: act("tools for this", { together: sentWith("and that") }),
    againApart: true,
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "burst",
    title: "a burst that is debounced",
    config: { arrivals: { debounceMs: 500 } },
    before: [HELLO],
    act: act("one", { together: sentWith("two") }),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "picture",
    title: "a message with a picture",
    before: [HELLO],
    act: act("what is it", { picture: "a walnut" }),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "rotation-with-picture",
    title: "a rotation with a picture and no text",
    before: [HELLO],
    act: act("/new", { picture: "a walnut" }),
    leaves: "turn",
    sessions: 2,
  },
  {
    name: "idle-with-picture",
    title: "a rotation by time with a picture",
    before: [HELLO],
    afterHours: 13,
    act: act("and this", { picture: "a walnut" }),
    leaves: "turn",
    sessions: 2,
  },
  {
    name: "waiting",
    title: "a message for which a tool waits for a person",
    before: [HELLO],
    act: act("ask me"),
    actFails: true,
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "approval",
    title: "a person's decision for a tool that waits",
    before: [HELLO, ASK],
    act: { ...ASK, direct: "approve" },
    decidesAnew: true,
    isShort: true,
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "instead-of-approval",
    title: "another message while a tool waits for a person",
    before: [HELLO, ASK],
    act: act("never mind"),
    leaves: "turn",
    sessions: 1,
  },
  {
    name: "replay",
    title: "a message to an old checkpoint",
    before: said("one", "two", "three"),
    keepTurns: 20,
    act: act("other two", { direct: "replay" }),
    leaves: "turn",
    sessions: 2,
  },
  {
    name: "remember",
    title: "a command that remembers a fact",
    before: [HELLO],
    act: act("/remember I drink jasmine tea"),
    isShort: true,
    leaves: "turn",
    sessions: 1,
    facts: 1,
  },
  {
    name: "forget",
    title: "a command that forgets a fact",
    before: said("/remember I drink jasmine tea", "/remember my bike is blue"),
    act: act("/forget jasmine"),
    refusedOnceDone: "memory_not_found",
    isShort: true,
    leaves: "turn",
    sessions: 1,
    facts: 1,
  },
  {
    name: "forget-everywhere",
    title: "a fact that is erased wherever it was said",
    before: said("/remember I drink jasmine tea", "my bike is blue", "/new", "I drink jasmine tea"),
    act: act("/forget I drink jasmine tea --everywhere --yes"),
    refusedOnceDone: "memory_not_found",
    isShort: true,
    leaves: "turn",
    sessions: 2,
    erased: ["d1", "d4"],
    facts: 0,
  },
];

/** Of these also how they go in a terminal and on a server, where nothing is stored before the model is called. */
const ALSO_THOUGHT_ABOUT = new Set([
  "chat",
  "tools",
  "rotation-with-text",
  "abort",
  "failure-after-tools",
  "collected-tools",
  "waiting",
]);

/** `chat-briefly`, `chat-long`. */
const thoughtAbout = (thinks: keyof typeof THINKING, words: string): Scenario[] =>
  STORED_BEFORE.filter(({ name }) => ALSO_THOUGHT_ABOUT.has(name)).map((scenario) => ({
    ...scenario,
    name: `${scenario.name}-${thinks}`,
    title: `${scenario.title}, ${words}`,
    thinks,
  }));

export const SCENARIOS: readonly Scenario[] = [
  ...STORED_BEFORE,
  ...thoughtAbout(
    "briefly",
    "about which the model thinks briefly: nothing of it is stored before it has answered",
  ),
  ...thoughtAbout("long", "about which the model thinks for long: what led to it is stored meanwhile"),
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
