/**
 * `assembleContext`: settles who answers and what is said before the answer, chooses what the model is given under its
 * budget, and writes the receipt, from which the prompt is rendered.
 */
import { chooseEntries, chooseUnits, leftName } from "#src/context/system-prompt.ts";
import { passagesReceipt } from "#src/context/found-sections.ts";
import { shareOf } from "#src/context/plan-context.ts";
import { notable } from "#src/preparation/plugins.ts";
import type { CallReceipt } from "#src/sessions/call-receipt.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { localMinute } from "#src/kernel/clock.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Noted } from "#src/sessions/transcript.ts";
import { isDenied, MAX_LEFT, type LeftCandidate, type Receipt } from "#src/sessions/turn-record.ts";
import { shortId } from "#memory/record.ts";
import { NO_MODEL_NOTICE } from "#src/turns/solvers/symbolic.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { planSummarised } from "../compaction.ts";
import { spend } from "../budget.ts";
import { requireInFlight } from "../in-flight.ts";
import { noticeMessage } from "../messages.ts";
import { isLeftOut, lastCallOf, olderTurnsOf, type OlderTurns } from "../older-turns.ts";
import { budgetFor } from "../plan-call.ts";
import { modelOf, policyOf } from "../policy-of.ts";
import { noticesOf, prepareTurn, withControlCalls } from "../prepare-turn.ts";
import { notedIn, sourcesOf, systemText, type PromptSources } from "../prompt.ts";
import { NO_TOOLS, offeredTools } from "../tools.ts";
import { memoryForTurn, questionIn } from "../run-memory.ts";
import { readRunContext, requireChain, type NodeRuntime, type RunContext } from "../run-context.ts";
import { evidenceForTurn } from "../turn-plugins.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { requireTurn, userMessage } from "../turn-messages.ts";
import { openedNoticeId } from "../window.ts";

/** With LangGraph's `writer`, by which notices reach listeners before the answer. */
type SayingRuntime = NodeRuntime & { readonly writer?: (event: unknown) => void };

/** Makes the node. */
export function assembleContext(deps: SessionDeps) {
  const toolsFor = offeredTools(deps);
  return async (state: SessionStateValues, runtime: SayingRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    if (run.isFork) await requireInFlight(run, session, turn);
    const noModel = modelOf(deps, session) === "symbolic" && !session.toldNoModel ? NO_MODEL_NOTICE : null;
    const { chosen, notices, gaveWay } = await chooseContext(deps, run, { session, turn, toolsFor });
    const { solver } = chosen;
    const notice = [noModel, ...gaveWay].filter((text) => text !== null).join("\n") || null;
    const said = [turn.announcement, notice, ...notices].filter((text) => text !== null);
    for (const text of said) runtime.writer?.({ type: "notice", text });
    return {
      session: withModel(session, solver),
      turn: { ...turn, ...chosen, notice },
      messages: said
        .map((text) => withoutOpened(text, state))
        .filter((text) => text !== "")
        .map((text) => noticeMessage(text, deps.ids.uuid())),
    };
  };
}

/** Drops the lines that the thread shows already in its notice of why the session began. */
function withoutOpened(said: string, { messages, session }: SessionStateValues): string {
  const opened = messages.find(({ id }) => id === openedNoticeId(session?.sessionId ?? ""))?.text ?? "";
  const lines = said.split("\n");
  return opened === "" ? said : lines.filter((line) => line === "" || !opened.startsWith(line)).join("\n");
}

/** A session that began before a model was configured takes the configured one from now on. */
function withModel(session: SessionFields, solver: string): SessionFields {
  if (solver === "symbolic" || session.modelConfig.model !== null) return session;
  return { ...session, modelConfig: { ...session.modelConfig, model: solver } };
}

interface Subject {
  readonly session: SessionFields;
  readonly turn: TurnInFlight;
}

/** What a turn is given, and what the person is told of it: by summaries, and of plugins and knowledge bases that gave way. */
interface ChosenContext {
  readonly chosen: Pick<
    TurnInFlight,
    "receipt" | "plan" | "plugins" | "lookedFor" | "kbs" | "spent" | "controlCalls"
  > & {
    readonly solver: string;
  };
  readonly notices: readonly string[];
  readonly gaveWay: readonly string[];
}

/** What could be given beside the conversation, and the first plan; what its budget leaves out is not in the receipt. */
async function chooseContext(
  deps: SessionDeps,
  run: RunContext,
  { session, turn, toolsFor }: Subject & { readonly toolsFor: ReturnType<typeof offeredTools> },
): Promise<ChosenContext> {
  const chain = await requireChain(run, session);
  const older = olderTurnsOf(deps, run, { chain, session, turn });
  const prepared = await prepareTurn(deps, { session, turn, older });
  const { earlier, plan: wanted, solver } = prepared;
  const budgetTokens = budgetFor(deps, session.activeAgent, solver);
  const text = wanted.queries.join("\n");
  const [facts, passages] = await Promise.all([
    memoryForTurn(deps, run, { chain, session, turn: { text }, earlier }),
    evidenceForTurn(deps, run, { session, plan: wanted }),
  ]);
  const before = await callBefore(older, { chain, session });
  const noted = notedIn(session, turn);
  const { given: units, left: otherUnits } = unitsForTurn({ chain, session, turn }, noted, {
    from: older.from,
    before,
  });
  const ledger = chooseEntries(noted.ledger, shareOf("ledger", budgetTokens));
  const receipt: Receipt = {
    ...fixedParts(deps, { chain, session }),
    budgetTokens,
    ...(ledger === undefined ? {} : { ledger }),
    ...(units.length === 0 ? {} : { units }),
    ...(facts.records.length === 0 ? {} : { memory: facts.receipt }),
    ...(passages.found.length === 0 ? {} : { evidence: passagesReceipt(passages.found) }),
    left: [...facts.left, ...passages.notGiven, ...otherUnits],
  };
  const sources = sourcesOf({
    chain,
    session,
    turn: { number: turn.number, messages: [userMessage(turn)], receipt, ...noted },
    records: facts.records,
    evidence: passages.found,
    system: await systemText(deps, run, { chain, session, receipt }),
  });
  const tools = solver === "symbolic" ? NO_TOOLS : await toolsFor(session, run.blobs);
  const toPlan = { sources, model: solver, tools, older, before };
  const { call, notices, asked = [] } = await planSummarised(deps, run, toPlan);
  const { given, ...plan } = call;
  const kb = passages.used === undefined ? {} : { kb: passages.used };
  const plugins = notable({ ...prepared.plugins, ...kb });
  const chosen = {
    solver,
    receipt: givenOnly(sources, given),
    plan,
    ...(plugins === undefined ? {} : { plugins }),
    ...withControlCalls(turn, [...prepared.controlCalls, ...asked]),
    ...(prepared.tokens === 0 ? {} : spend(turn, { modelCalls: 0, tokens: prepared.tokens, ms: 0 })),
    ...(passages.kbs === undefined ? {} : { kbs: [...passages.kbs] }),
    ...(text === turn.text ? {} : { lookedFor: [...wanted.queries] }),
  };
  return { chosen, notices, gaveWay: [...prepared.notices, ...noticesOf(kb), ...passages.notices] };
}

/** The receipt without the entries that the budget leaves out. */
function givenOnly(
  { turn: { receipt }, persona, profile, facts }: PromptSources,
  given: CallReceipt["given"] = {},
): Receipt {
  const { memory = [], evidence = [], ledger, units = [], left = [], ...rest } = receipt;
  const kept = new Set(
    [
      ...persona.slice(0, given["persona"]),
      ...profile.slice(0, given["profile"]),
      ...facts.slice(0, given["facts"]),
    ].map(({ id }) => id),
  );
  const isKept = ({ id }: { readonly id: string }): boolean => kept.has(id);
  const dropped = memory
    .filter((fact) => !isKept(fact))
    .map(({ id }): LeftCandidate => ["fact", shortId(id), "room"]);
  const noRoom = given["units"] === undefined ? [] : units.slice(given["units"]);
  const others = noRoom.map((unit): LeftCandidate => ["unit", leftName(unit), "room"]);
  const notGiven = [...left.filter(isDenied), ...dropped, ...others, ...left.filter((one) => !isDenied(one))];
  return {
    ...rest,
    ...(receipt.memory === undefined ? {} : { memory: memory.filter(isKept) }),
    ...(receipt.evidence === undefined ? {} : { evidence: evidence.slice(0, given["evidence"]) }),
    ...(notGiven.length === 0 ? {} : { left: notGiven.slice(0, 3 * MAX_LEFT) }),
    ...(receipt.units === undefined ? {} : { units: units.slice(0, given["units"]) }),
    ...(ledger === undefined || given["ledger"] === 0 ? {} : { ledger }),
  };
}

/** The units of turns that are not in the prompt themselves, as far as they may be given. */
function unitsForTurn(
  { chain, session, turn }: Subject & { readonly chain: Chain },
  { units = [] }: Noted,
  { from, before }: Pick<OlderTurns, "from"> & { readonly before: CallReceipt | undefined },
): ReturnType<typeof chooseUnits> {
  const { sessionId } = session;
  const left = units.filter(
    // An imported unit stands in no turn.
    (unit) =>
      unit.id !== undefined ||
      isLeftOut({ ...unit, sessionId: unit.sessionId ?? sessionId }, before, { chain, session, from }),
  );
  return left.length === 0 ? { given: [], left: [] } : chooseUnits(left, questionIn(turn.text));
}

/** The receipt of the conversation's latest model call, looked for in its newest turns. */
async function callBefore(
  older: OlderTurns,
  within: { readonly chain: Chain; readonly session: SessionFields },
): Promise<CallReceipt | undefined> {
  for await (const turns of older.newestFirst()) {
    const last = turns.find(({ explanation: { calls = [] } }) => calls.length > 0);
    if (last !== undefined) return lastCallOf(last, within);
    if (turns.length > 0 && turns[0]?.sessionId === within.session.sessionId) return undefined;
  }
  return undefined;
}

/** What a receipt holds whatever was said: local time, zone, hand-over note. */
function fixedParts(
  deps: SessionDeps,
  { chain, session }: { readonly chain: Chain; readonly session: SessionFields },
): Omit<Receipt, "budgetTokens"> {
  const policy = policyOf(deps, session);
  const { timeZone } = policy;
  const handover = policy.handover === "brief" ? handoverFor(chain, session) : undefined;
  return {
    localTime: localMinute(deps.clock.now(), timeZone),
    timeZone,
    ...(handover === undefined ? {} : { handover }),
  };
}

/** The last turn of the session before, unless this one reads that anyway. */
function handoverFor(chain: Chain, session: SessionFields): Receipt["handover"] {
  const entry = entryOf(chain, session.sessionId);
  const previous = entryOf(chain, entry?.previous ?? "");
  const turn = previous?.sealed?.turns ?? 0;
  if (previous === undefined || turn === 0 || (entry?.continues ?? []).length > 0) return undefined;
  return { sessionId: previous.sessionId, turn };
}
