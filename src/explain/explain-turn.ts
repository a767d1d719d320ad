/** Explains a committed turn: which session and why, who answered with what, and which facts were given; and one that failed. */
import type {
  AnswerSource,
  ApprovalRecord,
  Cut,
  Explanation,
  FailedAttempt,
  ReachedLimit,
  Receipt,
  TurnRecord,
} from "#src/sessions/turn-record.ts";
import { quoted } from "#src/kernel/markdown.ts";
import { type Reason, reasonsOf, type Telling } from "./reason.ts";
import type { UnitPlace } from "#src/sessions/knowledge-units.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import type { Chain, ChainEntry } from "#src/sessions/chain.ts";
import { spokenText } from "#src/sessions/message.ts";
import type { Verdict } from "#src/sessions/verdict.ts";
import { type MemoryRecord, shortId } from "#memory/record.ts";
import { receiptReasons } from "./call-reasons.ts";
import { givenText } from "./explain-fact.ts";
import { verdictText } from "./verdict-text.ts";
import { localTime } from "#src/kernel/clock.ts";
import type { UsedPlugins } from "#src/sessions/plugin-choices.ts";

/** What belongs to a turn beside its record. */
export interface TurnSurroundings {
  readonly chain: Pick<Chain, "sessionKey">;
  readonly entry: ChainEntry;
  /** Remembered facts by id, as far as there still are. */
  readonly facts: ReadonlyMap<string, MemoryRecord>;
  /** Failures of the same delivery, oldest first. */
  readonly failures: readonly FailedTurn[];
}

/** The turn in one sentence. */
export function turnHeadline(turn: TurnRecord, telling: Telling): string {
  const at = localTime(turn.at, telling.timeZone);
  return `Turn ${turn.turn} of ${telling.nameOf(turn.sessionId)} (${at}): ${answererText(turn)}.`;
}

/** Its reasons, in the order in which they came about. */
export function explainTurn(turn: TurnRecord, around: TurnSurroundings, telling: Telling): Reason[] {
  const { explanation, reply } = turn;
  const { receipt } = explanation;
  return [
    ...reasonsOf(
      ["message", quoted(spokenText(turn.messages.find(({ role }) => role === "user")))],
      ["session", sessionText(around, telling)],
      ["decision", decisionText(explanation.verdict, telling)],
      ["announced", reply.announcement],
      ["failed first", failuresText(around.failures, telling)],
      ["command", reply.envelope === undefined ? undefined : reply.envelope.code],
    ),
    ...answerReasons(turn, telling),
    ...givenReasons(turn, telling),
    ...sourceReasons(explanation, around, telling),
    ...(receipt?.memory ?? [])
      .filter(({ id }) => !isSource(id, explanation))
      .map((given) => factReason(given, around, telling)),
    ...(receipt?.units ?? []).map((unit) => ({
      about: `unit ${unitName(unit, telling)}`,
      text: unit.because === "fits" ? "given because it fits what you said" : "given whatever is said",
    })),
    ...recalledReasons(explanation, telling),
    ...reasonsOf(["told", reply.notice]),
  ];
}

/** Which session, and why it is not the one before. */
export function sessionText(
  { chain, entry }: Pick<TurnSurroundings, "chain" | "entry">,
  { timeZone, nameOf }: Telling,
): string {
  const { at, verdict } = entry.opened;
  const began = localTime(at, timeZone);
  const why = verdict === undefined ? "with your first message" : `because ${verdictText(verdict, timeZone)}`;
  const past =
    entry.continues.length === 0 ? "" : `; it goes on from ${entry.continues.map(nameOf).join(" and ")}`;
  return `session ${entry.ordinal} of ${chain.sessionKey}, begun ${began} ${why}${past}`;
}

/** Why the turn was answered where it was. Of the first turn of a session, the session says it. */
function decisionText(verdict: Verdict | undefined, { timeZone }: Telling): string | undefined {
  if (verdict === undefined) return undefined;
  if (verdict.action === "stay" && verdict.reason === "empty") return undefined;
  const did = verdict.action === "stay" ? "it went on" : "it ended";
  return `${did}: ${verdictText(verdict, timeZone)}`;
}

function failuresText(failures: readonly FailedTurn[], { timeZone }: Telling): string {
  return failures
    .map(({ at, code, message }) => `${localTime(at, timeZone)}, ${code}: ${message}`)
    .join("; ");
}

/** The built-in solver is given no prompt, though one is put together for it. */
function givenReasons(turn: TurnRecord, telling: Telling): Reason[] {
  if (turn.explanation.solver === "symbolic")
    return reasonsOf([
      "looked in",
      "what was said and noted in this conversation, and in remembered facts; then in documents",
    ]);
  return receiptReasons(turn, telling);
}

/** What an answer without a model quotes, by its place. */
function sourceReasons(
  { sources = [] }: Explanation,
  { facts }: TurnSurroundings,
  telling: Telling,
): Reason[] {
  return sources.map((source) => ({ about: "rests on", text: sourceText(source, facts, telling) }));
}

function sourceText(source: AnswerSource, facts: TurnSurroundings["facts"], telling: Telling): string {
  switch (source.kind) {
    case "turn":
      return `turn ${source.turn} of ${telling.nameOf(source.sessionId)}`;
    case "unit":
      return `the knowledge unit ${unitName(source, telling)}`;
    case "fact": {
      const record = facts.get(source.id);
      const fact = `the remembered fact ${shortId(source.id)}`;
      return record === undefined
        ? `${fact}, which is not remembered any more`
        : `${fact}, ${givenText(record, telling)}`;
    }
    case "evidence":
      return `passage ${source.piece + 1} of the document ${shortId(source.sourceId)}; /memory evidence show lists them`;
  }
}

/** A unit by its place. */
export function unitName({ sessionId, turn, n }: UnitPlace, { nameOf }: Pick<Telling, "nameOf">): string {
  return `${turn}.${n}${sessionId === undefined ? "" : ` of ${nameOf(sessionId)}`}`;
}

/** A fact that the answer quotes is told of as such. */
function isSource(id: string, { sources = [] }: Explanation): boolean {
  return sources.some((source) => source.kind === "fact" && source.id === id);
}

function factReason(
  { id, because }: NonNullable<Receipt["memory"]>[number],
  { facts }: TurnSurroundings,
  telling: Telling,
): Reason {
  const record = facts.get(id);
  const about = `fact ${shortId(id)}`;
  if (record === undefined) return { about, text: "given then; it is not remembered any more" };
  const why = because === undefined ? "" : `; given because it ${BECAUSE[because](record)}`;
  return { about, text: `${givenText(record, telling)}${why}` };
}

const BECAUSE = {
  fits: () => "fits what you said",
  always: ({ domain }: MemoryRecord) =>
    domain === "task_memory" ? "is among the newest of your task" : `is always given (${domain})`,
};

function recalledReasons({ recalled = [] }: Explanation, { nameOf, timeZone }: Telling): Reason[] {
  return recalled.map(({ sessionId, turn, at, score, rationale }) => ({
    about: "recalled",
    text: `turn ${turn} of ${nameOf(sessionId)} (${localTime(at, timeZone)}), score ${Number(score.toFixed(2))}: ${rationale}`,
  }));
}

/** The failure in one sentence. */
export function failureHeadline({ at, sessionId, message }: FailedTurn, telling: Telling): string {
  const when = localTime(at, telling.timeZone);
  return `A message to ${telling.nameOf(sessionId)} was not answered (${when}): ${message.replace(/[.!?…]+$/u, "")}.`;
}

/** The step in which it failed, as people call it; others go by their own name. */
const STEPS: Readonly<Record<string, string>> = {
  admit: "when the message was taken in",
  decideRollover: "when it was decided whether the conversation goes on",
  rotate: "when a new session was begun",
  assembleContext: "when the context was put together",
  // Its name in records of earlier versions.
  prepareTurn: "when the context was put together",
  callModel: "when the model was asked",
  runTools: "when a tool ran",
  runCommand: "when the command ran",
  solveSymbolically: "when the built-in solver looked for an answer",
  commit: "when the turn was stored",
};

/** Its reasons. */
export function explainFailure(
  failure: FailedTurn,
  around: Pick<TurnSurroundings, "chain" | "entry">,
  telling: Telling,
): Reason[] {
  const { code, node, text, attempts = [] } = failure;
  return reasonsOf(
    ["message", quoted(text)],
    ["session", sessionText(around, telling)],
    ["failed", `${code}, ${STEPS[node] ?? `in the step ${node}`}`],
    ["failed calls", attemptsText(attempts, telling.timeZone)],
    ["kept", "no part of an answer; the message is in this note alone, not in the conversation"],
  );
}

/** Who answered, as the end of a headline. */
export function answererText({ kind, status, explanation }: TurnRecord): string {
  if (kind === "command") return "a command; no model was asked";
  const { solver } = explanation;
  const who =
    solver === undefined
      ? "no model was asked"
      : solver === "symbolic"
        ? "the built-in solver answered, without a model"
        : `${solver} answered`;
  return `${who}${statusText(status)}`;
}

function statusText(status: TurnRecord["status"]): string {
  switch (status) {
    case "completed":
      return "";
    case "stopped":
      return ", until it was stopped; what there was is kept";
    case "interrupted":
      return ", but the program ended before the answer was complete";
    case "limited":
      return ", and a limit ended the turn";
  }
}

/** Failed calls, the limit that was reached, the tools that ran. */
export function answerReasons(turn: TurnRecord, { timeZone }: Telling): Reason[] {
  const { approvals = [], attempts = [], cut, limit, lookedFor, plugins, solver } = turn.explanation;
  return reasonsOf(
    ["prepared by", pluginsText(plugins)],
    ["looked for", lookedFor?.map((query) => `“${query}”`).join(", ")],
    ["failed calls", attemptsText(attempts, timeZone)],
    ["instead", insteadText(attempts, solver)],
    ["you were asked", decisionsText(approvals)],
    ["limit", limit === undefined ? undefined : limitText(limit)],
    ["cut", cut === undefined ? undefined : CUTS[cut]],
    ["tools", toolsText(turn)],
  );
}

/** E.g. `planner-model (session)`; `undefined` where nobody chose one and none gave way. */
export function pluginsText(plugins: UsedPlugins = {}): string | undefined {
  const used = Object.values(plugins).map(({ name, from, instead = [] }) =>
    [`${name} (${from})`, ...instead.map((one) => `${one.name} was not used: ${one.why}`)].join(", "),
  );
  return used.length === 0 ? undefined : used.join("; ");
}

/** E.g. `write_file: approve; delete_file: reject`. */
function decisionsText(approvals: readonly ApprovalRecord[]): string | undefined {
  const said = approvals.map(
    ({ tool, decision, always }) =>
      `${tool}: ${DECIDED[decision]}${always ? ", and in all of this session" : ""}`,
  );
  return said.length === 0 ? undefined : said.join("; ");
}

const DECIDED = {
  approve: "approved",
  edit: "approved with other arguments",
  reject: "rejected",
  closed: "not answered",
};

/** Failed calls by model and kind: `openai:x 3 times (rate_limit), the last at 2026-03-01 09:00`. */
export function attemptsText(attempts: readonly FailedAttempt[], timeZone: string): string {
  const groups = new Map<string, { readonly count: number; readonly last: FailedAttempt }>();
  for (const attempt of attempts) {
    const key = JSON.stringify([attempt.model, attempt.kind]);
    groups.set(key, { count: (groups.get(key)?.count ?? 0) + 1, last: attempt });
  }
  return [...groups.values()]
    .map(({ count, last }) => {
      const times = count === 1 ? "once" : `${count} times`;
      const at = localTime(last.at, timeZone);
      return `${last.model} ${times} (${last.kind}), ${count === 1 ? "" : "the last "}at ${at}`;
    })
    .join("; ");
}

/** Another model than the one that failed has answered: that holds for the turn alone. */
function insteadText(attempts: readonly FailedAttempt[], solver: string | undefined): string {
  const [first] = attempts;
  if (first === undefined || solver === undefined || first.model === solver) return "";
  return `${solver} answered in place of ${first.model}, for this turn only`;
}

const LIMITS: Readonly<Record<ReachedLimit["kind"], readonly [counts: string, setting: string]>> = {
  modelCalls: ["model calls", "limits.modelCalls"],
  toolCalls: ["tool calls", "limits.toolCalls"],
  steps: ["steps", "recursion_limit of the run"],
  tokens: ["tokens", "limits.turnTokens"],
  time: ["ms", "limits.turnMs"],
};

const CUTS: Readonly<Record<Cut, string>> = {
  length: "the model reached the longest answer that it or its server allows (finish reason length)",
  content_filter: "the model's server withheld the rest of the answer (finish reason content_filter)",
};

function limitText({ kind, used, limit }: ReachedLimit): string {
  const [counts, setting] = LIMITS[kind];
  return `${used.toLocaleString("en-US")} of ${limit.toLocaleString("en-US")} ${counts} were used; ${setting} raises it`;
}

function toolsText({ messages }: TurnRecord): string {
  const counts = new Map<string, number>();
  for (const { name } of messages.flatMap(({ toolCalls = [] }) => toolCalls))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} × ${count}`)).join(", ");
}
