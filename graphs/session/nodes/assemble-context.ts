/**
 * `assembleContext`: settles who answers and what is said before the answer, chooses what the model is given under its
 * budget, and writes the receipt, from which the prompt is rendered.
 */
import { ledgerSection } from "#src/context/ledger-section.ts";
import { messageTokens, selectTurns } from "#src/context/select-turns.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { turnsNewestFirst } from "#src/sessions/transcript.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";
import { NO_MODEL_NOTICE } from "#src/turns/solvers/symbolic.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { requireInFlight } from "../in-flight.ts";
import { solverOf } from "../locate-session.ts";
import { noticeMessage } from "../messages.ts";
import { policyOf } from "../policy-of.ts";
import { systemText } from "../prompt.ts";
import { memoryForTurn, saidBefore } from "../recall-memory.ts";
import { readRunContext, requireChain, type NodeRuntime, type RunContext } from "../run-context.ts";
import { evidenceForTurn } from "../run-evidence.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { requireTurn } from "../turn-messages.ts";

/** What says something before the answer, to whoever listens. */
type SayingRuntime = NodeRuntime & { readonly writer?: (event: unknown) => void };

/** Makes the node. */
export function assembleContext(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: SayingRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    if (run.isFork) await requireInFlight(run, session, turn);
    const solver = solverOf(deps, session);
    const notice = solver === "symbolic" && !session.toldNoModel ? NO_MODEL_NOTICE : null;
    const said = [turn.announcement, notice].filter((text) => text !== null);
    const receipt = await chooseContext(deps, run, { session, turn });
    for (const text of said) runtime.writer?.({ type: "notice", text });
    return {
      session: withModel(session, solver),
      turn: { ...turn, solver, notice, receipt },
      messages: said.map((text) => noticeMessage(text, deps.ids.uuid())),
    };
  };
}

/** A session that began before a model was configured takes the configured one from now on. */
function withModel(session: SessionFields, solver: string): SessionFields {
  if (solver === "symbolic" || session.modelConfig.model !== null) return session;
  return { ...session, modelConfig: { ...session.modelConfig, model: solver } };
}

/** Most of the budget that the ledger takes. */
const LEDGER_SHARE = 0.1;

interface Subject {
  readonly session: SessionFields;
  readonly turn: TurnInFlight;
}

/** The turn's own message comes first and is never cut; then facts and passages; then the newest turns that fit. */
async function chooseContext(
  deps: SessionDeps,
  run: RunContext,
  { session, turn }: Subject,
): Promise<Receipt> {
  const chain = await requireChain(run, session);
  const newest = (): AsyncGenerator<readonly TurnRecord[]> =>
    turnsNewestFirst(deps.shownTurns.over(run.repository, chain), chain, {
      sessionId: session.sessionId,
      latestTurns: session.turns,
      // First turn that is context, where the working set was cleared in place.
      from: turn.clears === true ? turn.number : session.contextFrom,
    });
  const earlier = await saidBefore(newest());
  const [facts, evidence] = await Promise.all([
    memoryForTurn(deps, run, { chain, session, turn, earlier }),
    evidenceForTurn(deps, run, { session, turn }),
  ]);
  const fixed = fixedParts(deps, { chain, session });
  const system = messageTokens({ content: await systemText(run, { chain, session, receipt: fixed }) });
  const message = messageTokens({ content: turn.text, attachments: turn.attachments ?? [] });
  const { contextTokens } = deps.limits;
  const ledger = ledgerSection(
    turn.clears === true ? undefined : session.ledger,
    contextTokens * LEDGER_SHARE,
  );
  const left = Math.max(0, contextTokens - system - ledger.tokens - facts.tokens - evidence.tokens - message);
  const turns = await selectTurns(newest(), left, (record) => deps.shownTurns.show(record).tokens);
  return {
    ...fixed,
    tokens: {
      system,
      ...(ledger.text === "" ? {} : { ledger: ledger.tokens }),
      ...(facts.text === "" ? {} : { memory: facts.tokens }),
      ...(evidence.text === "" ? {} : { evidence: evidence.tokens }),
      turns: turns.tokens,
      message,
    },
    turns: [...turns.ranges],
    ...(ledger.text === "" ? {} : { ledger: [...ledger.numbers] }),
    ...(facts.text === "" ? {} : { memory: facts.receipt }),
    ...(evidence.text === "" ? {} : { evidence: evidence.receipt }),
  };
}

/** What is told to the model whatever was said. */
function fixedParts(
  deps: SessionDeps,
  { chain, session }: { readonly chain: Chain; readonly session: SessionFields },
): Receipt {
  const policy = policyOf(deps, session);
  const { timeZone } = policy;
  const handover = policy.handover === "brief" ? handoverFor(chain, session) : undefined;
  return {
    budgetTokens: deps.limits.contextTokens,
    localTime: localMinute(deps.clock.now(), timeZone),
    timeZone,
    ...(handover === undefined ? {} : { handover }),
    tokens: {},
    turns: [],
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
