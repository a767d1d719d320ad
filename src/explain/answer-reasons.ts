/** Who answered a turn, what failed before, and what ended it, in words. */
import { localTime } from "#src/sessions/day-boundary.ts";
import type { UsedPlugins } from "#src/sessions/plugin-choices.ts";
import type {
  ApprovalRecord,
  Cut,
  FailedAttempt,
  ReachedLimit,
  TurnRecord,
} from "#src/sessions/turn-record.ts";
import { reasonsOf, type Reason, type Telling } from "./reason.ts";

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
