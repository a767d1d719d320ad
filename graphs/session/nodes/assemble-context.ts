/**
 * `assembleContext`: settles who answers and what is said before the answer, chooses what the model is given under its
 * budget, and writes the receipt, from which the prompt is rendered.
 */
import { chooseEntries, chooseUnits, leftName } from "#src/context/system-prompt.ts";
import { passagesReceipt } from "#src/context/found-sections.ts";
import { shareOf } from "#src/context/plan-context.ts";
import { fallbackText, notable } from "#src/preparation/plugins.ts";
import type { CallReceipt } from "#src/sessions/call-receipt.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { localMinute } from "#src/kernel/clock.ts";
import { defined } from "#src/kernel/json.ts";
import { joined } from "#src/kernel/markdown.ts";
import type { HeldUnit } from "#src/sessions/knowledge-units.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Noted } from "#src/sessions/transcript.ts";
import { isDenied, MAX_LEFT, type LeftCandidate, type Receipt } from "#src/sessions/turn-record.ts";
import { shortId } from "#memory/record.ts";
import { NO_MODEL_NOTICE } from "#src/turns/solvers/symbolic.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { planSummarised } from "../summaries.ts";
import { spend } from "../budget.ts";
import { requireInFlight } from "../in-flight.ts";
import { noticeMessage } from "../messages.ts";
import { budgetFor, callBefore, isLeftOut, olderTurnsOf } from "../plan-call.ts";
import { modelOf, policyOf } from "../policy-of.ts";
import { prepareTurn, withControlCalls } from "../prepare-turn.ts";
import { notedIn, sourcesOf, systemText, type PromptSources } from "../prompt.ts";
import { NO_TOOLS, offeredTools } from "../tools.ts";
import { memoryForTurn, questionIn, saidBefore } from "../run-memory.ts";
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
    const isNewWithout = modelOf(deps, session) === "symbolic" && !session.toldNoModel;
    const { chosen, notices, gaveWay } = await chooseContext(deps, run, { session, turn, toolsFor });
    const notice = joined([isNewWithout ? NO_MODEL_NOTICE : undefined, ...gaveWay], "\n") || null;
    const said = [turn.announcement, notice, ...notices].filter((text) => text !== null);
    for (const text of said) runtime.writer?.({ type: "notice", text });
    return {
      session: withModel(session, chosen.solver),
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

type InTurn = ReturnType<typeof requireTurn>;

/** What a turn is given, and what the person is told of it: by summaries, and of plugins and knowledge bases that gave way. */
interface ChosenContext {
  readonly chosen: Partial<TurnInFlight> & { readonly solver: string };
  readonly notices: readonly string[];
  readonly gaveWay: readonly string[];
}

/** What could be given beside the conversation, and the first plan; what its budget leaves out is not in the receipt. */
async function chooseContext(
  deps: SessionDeps,
  run: RunContext,
  { session, turn, toolsFor }: InTurn & { readonly toolsFor: ReturnType<typeof offeredTools> },
): Promise<ChosenContext> {
  const chain = await requireChain(run, session);
  const older = olderTurnsOf(deps, run, { chain, session, turn });
  const earlier = await saidBefore(older.newestFirst());
  const prepared = await prepareTurn(deps, { session, turn }, earlier);
  const { plan: wanted, solver } = prepared;
  const budgetTokens = budgetFor(deps, session.activeAgent, solver);
  const text = wanted.queries.join("\n");
  const [facts, passages] = await Promise.all([
    memoryForTurn(deps, run, { chain, session, turn: { text }, earlier }),
    evidenceForTurn(deps, run, { session, plan: wanted }),
  ]);
  const before = await callBefore(older, { chain, session });
  const noted = notedIn(session, turn);
  const outside = unitsOutside(noted, before, { chain, session, from: older.from });
  const { given: units, left: otherUnits } = chooseUnits(outside, questionIn(turn.text));
  const { timeZone, handover } = policyOf(deps, session);
  const ledger = chooseEntries(noted.ledger, shareOf("ledger", budgetTokens));
  const receipt: Receipt = {
    localTime: localMinute(deps.clock.now(), timeZone),
    timeZone,
    ...(handover === "brief" ? defined({ handover: handoverFor(chain, session) }) : {}),
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
  const { call, notices, asked } = await planSummarised(deps, run, toPlan);
  const { given, ...plan } = call;
  const used = { ...prepared.plugins, ...defined({ kb: passages.used }) };
  const plugins = notable(used);
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
  const replaced = Object.values(used).flatMap((plugin) => fallbackText(plugin) ?? []);
  return { chosen, notices, gaveWay: [...replaced, ...passages.notices] };
}

/** The receipt without the entries that the budget leaves out. */
function givenOnly(
  { turn: { receipt }, persona, profile, facts }: PromptSources,
  given: CallReceipt["given"] = {},
): Receipt {
  const { memory, evidence, ledger, units, left = [], ...rest } = receipt;
  const kept = new Set(
    [
      ...persona.slice(0, given["persona"]),
      ...profile.slice(0, given["profile"]),
      ...facts.slice(0, given["facts"]),
    ].map(({ id }) => id),
  );
  const noRoom = [
    ...(memory ?? []).filter(({ id }) => !kept.has(id)).map(({ id }) => ["fact", shortId(id)] as const),
    ...(units ?? []).slice(given["units"] ?? Infinity).map((unit) => ["unit", leftName(unit)] as const),
  ].map(([kind, name]): LeftCandidate => [kind, name, "room"]);
  const notGiven = [...left.filter(isDenied), ...noRoom, ...left.filter((one) => !isDenied(one))];
  return {
    ...rest,
    ...defined({
      memory: memory?.filter(({ id }) => kept.has(id)),
      evidence: evidence?.slice(0, given["evidence"]),
      left: notGiven.length === 0 ? undefined : notGiven.slice(0, 3 * MAX_LEFT),
      units: units?.slice(0, given["units"]),
      ledger: given["ledger"] === 0 ? undefined : ledger,
    }),
  };
}

/** The units of turns that are not in the prompt themselves; an imported one stands in no turn. */
function unitsOutside(
  { units = [] }: Noted,
  before: CallReceipt | undefined,
  within: Parameters<typeof isLeftOut>[2],
): HeldUnit[] {
  const { sessionId: own } = within.session;
  return units.filter(
    ({ id, turn, sessionId = own }) => id !== undefined || isLeftOut({ sessionId, turn }, before, within),
  );
}

/** The last turn of the session before, unless this one reads that anyway. */
function handoverFor(chain: Chain, session: SessionFields): Receipt["handover"] {
  const entry = entryOf(chain, session.sessionId);
  const previous = entryOf(chain, entry?.previous ?? "");
  const turn = previous?.sealed?.turns ?? 0;
  if (previous === undefined || turn === 0 || (entry?.continues ?? []).length > 0) return undefined;
  return { sessionId: previous.sessionId, turn };
}
