/** Builds a model's input: system prompt, committed turns that fit, and the turn in flight. */
import { SystemMessage } from "@langchain/core/messages";
import { handoverNote } from "#src/context/handover.ts";
import { messageTokens, selectTurns } from "#src/context/select-turns.ts";
import { systemPrompt } from "#src/context/system-prompt.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { turnsNewestFirst } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { joinSound, soundMessages } from "#src/turns/model-input.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { promptMemoryOf, type AssembledPrompt, type PromptMemory } from "./prompt-memory.ts";
import { policyOf } from "./policy-of.ts";
import { saidBefore } from "./recall-memory.ts";
import { recalledForTurn } from "./recalled.ts";
import { contextFrom, requireChain } from "./require.ts";
import type { RunContext } from "./run-context.ts";
import type { TurnInFlight } from "./state.ts";

/** The turn that a prompt is for. */
export interface PromptSubject {
  readonly session: SessionFields;
  /** Its message is counted first and never cut. */
  readonly turn: TurnInFlight;
  /** Where it was read for this turn already. */
  readonly chain?: Chain | undefined;
}

/**
 * The prompt of a turn, assembled once for all its model calls: what came before the turn does not change while it
 * runs. A turn that goes on in another process is assembled there again.
 */
export function assemblePrompt(
  deps: SessionDeps,
  run: RunContext,
  subject: PromptSubject,
): Promise<AssembledPrompt> {
  const memory = promptMemoryOf(deps);
  return memory.prompt(subject.turn.requestId, () => assemble(deps, { run, memory, ...subject }));
}

interface Subject extends PromptSubject {
  readonly run: RunContext;
  readonly memory: PromptMemory;
}

/** Reads `latest` and what it continues, newest first, until the budget is full. */
async function assemble(
  deps: SessionDeps,
  { run, session, turn, memory, ...read }: Subject,
): Promise<AssembledPrompt> {
  const chain = read.chain ?? (await requireChain(run, session));
  const newest = (): AsyncGenerator<readonly TurnRecord[]> =>
    turnsNewestFirst(memory.turns.over(run.repository, chain), chain, {
      sessionId: session.sessionId,
      latestTurns: session.turns,
      from: contextFrom(session, turn),
    });
  const earlier = await saidBefore(newest());
  const { facts, evidence } = await recalledForTurn(deps, run, { session, turn, earlier });
  const system = await systemText(deps, run, { chain, session });
  const systemTokens = messageTokens({ content: system });
  const ownTokens = messageTokens({ content: turn.text, attachments: turn.attachments ?? [] });
  const budget = Math.max(
    0,
    deps.limits.contextTokens - systemTokens - facts.tokens - evidence.tokens - ownTokens,
  );
  const selected = await selectTurns(newest(), budget, (record) => memory.shownOf(record));
  const head = [
    new SystemMessage([system, facts.text, evidence.text].filter((part) => part !== "").join("\n\n")),
  ];
  const { shown } = selected;
  const sound = joinSound([soundMessages(head), ...shown.map((turn) => turn.sound)]);
  return {
    recalled: { facts, evidence },
    prompt: sound?.messages ?? [...head, ...shown.flatMap(({ messages }) => messages)],
    sound,
    receipt: {
      budgetTokens: deps.limits.contextTokens,
      tokens: {
        system: systemTokens,
        ...(facts.text === "" ? {} : { memory: facts.tokens }),
        ...(evidence.text === "" ? {} : { evidence: evidence.tokens }),
        turns: selected.tokens,
        message: ownTokens,
      },
      turns: [...selected.ranges],
      ...(facts.text === "" ? {} : { memory: facts.receipt }),
      ...(evidence.text === "" ? {} : { evidence: evidence.receipt }),
    },
  };
}

async function systemText(
  deps: SessionDeps,
  run: RunContext,
  subject: { readonly chain: Chain; readonly session: SessionFields },
): Promise<string> {
  const policy = policyOf(deps, subject.session);
  return systemPrompt({
    agent: subject.session.activeAgent,
    localTime: localMinute(deps.clock.now(), policy.timeZone),
    timeZone: policy.timeZone,
    handover: policy.handover === "brief" ? await readHandover(run, subject) : undefined,
  });
}

async function readHandover(
  run: RunContext,
  { chain, session }: { readonly chain: Chain; readonly session: SessionFields },
): Promise<string | undefined> {
  const entry = entryOf(chain, session.sessionId);
  const previous = entryOf(chain, entry?.previous ?? "");
  const turns = previous?.sealed?.turns ?? 0;
  if (previous === undefined || turns === 0 || (entry?.continues ?? []).length > 0) return undefined;
  const last = await run.repository.readTurn({ ...chain, sessionId: previous.sessionId }, turns);
  return last === undefined ? undefined : handoverNote(previous.title, last);
}
