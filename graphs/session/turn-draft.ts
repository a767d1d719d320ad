/** What a commit stores of the turn in flight. */
import type { BaseMessage } from "@langchain/core/messages";
import type { FailedTurn } from "#src/sessions/repository.ts";
import { storeUnits } from "#src/sessions/knowledge-units.ts";
import type { Message } from "#src/sessions/message.ts";
import type { Explanation, TurnBody } from "#src/sessions/turn-record.ts";
import type { Verdict } from "#src/sessions/verdict.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";
import { limitNotice } from "./budget.ts";
import type { TurnInFlight } from "./state.ts";

/** A turn's body without what the commit itself decides. */
export type TurnDraft = Omit<TurnBody, "v" | "sessionId" | "turn">;

/** What a draft is made of beside the turn. */
export interface DraftParts {
  /** Why the session went on. */
  readonly verdict: Verdict | null;
  /** Messages of the turn, the user's first. */
  readonly messages: readonly BaseMessage[];
  readonly status: TurnBody["status"];
  /** ISO instant at which the turn counts as done: the activity clock. */
  readonly at: string;
  /** Said before the answer, where it is not what the turn says. */
  readonly notice?: string;
}

/** The draft of a turn. */
export function draftOf(turn: TurnInFlight, parts: DraftParts): TurnDraft {
  const limited =
    parts.status === "limited" && turn.limit !== undefined ? limitNotice(turn.limit) : undefined;
  const notice = parts.notice ?? limited ?? turn.notice ?? undefined;
  const messages = transcriptOf(turn, parts);
  return {
    at: parts.at,
    kind: turn.outcome === null ? "chat" : "command",
    status: parts.status,
    deliveryId: turn.deliveryId,
    textHash: turn.textHash,
    ...(turn.collected === undefined ? {} : { collected: turn.collected }),
    messages,
    ...(turn.stagedUnits.length === 0
      ? {}
      : { units: storeUnits(turn.stagedUnits, messages[0]?.content ?? "") }),
    ...changesOf(turn),
    reply: {
      ...(turn.announcement === null ? {} : { announcement: turn.announcement }),
      ...(notice === undefined ? {} : { notice }),
      ...(turn.outcome === null ? {} : { envelope: turn.outcome.envelope }),
    },
    explanation: explanationOf(turn, parts),
  };
}

/** The messages as the transcript keeps them: the user's text is what was answered, without a command before it. */
function transcriptOf(turn: TurnInFlight, { messages, at }: DraftParts): Message[] {
  return messages.map((message, index) =>
    index === 0
      ? { ...fromLangChain(message, turn.startedAt), content: turn.text, ...attachmentsOf(turn) }
      : fromLangChain(message, at),
  );
}

function attachmentsOf({ attachments }: TurnInFlight): Pick<Message, "attachments"> {
  return attachments === undefined ? {} : { attachments };
}

/** How far a turn had come: what explains one that was not committed. */
export function progressOf(
  { startedAt, receipt, calls, controlCalls, plan, plugins, recalled, limit, steps }: TurnInFlight,
  verdict: Verdict | null,
): Partial<FailedTurn> {
  return {
    startedAt,
    ...(verdict === null ? {} : { verdict }),
    ...(receipt === null ? {} : { receipt }),
    ...(calls === undefined ? {} : { calls }),
    ...(controlCalls === undefined ? {} : { controlCalls }),
    ...(plan === undefined ? {} : { plan }),
    ...(plugins === undefined ? {} : { plugins }),
    ...(recalled.length === 0 ? {} : { recalled }),
    ...(limit === undefined ? {} : { limit }),
    ...(steps === undefined ? {} : { steps }),
  };
}

function explanationOf(turn: TurnInFlight, { verdict }: DraftParts): Explanation {
  return {
    requestId: turn.requestId,
    ...(verdict === null ? {} : { verdict }),
    ...(turn.solver === null ? {} : { solver: turn.solver }),
    ...(turn.receipt === null ? {} : { receipt: turn.receipt }),
    ...(turn.plugins === undefined ? {} : { plugins: turn.plugins }),
    ...(turn.lookedFor === undefined ? {} : { lookedFor: turn.lookedFor }),
    ...(turn.calls === undefined ? {} : { calls: turn.calls }),
    ...(turn.controlCalls === undefined ? {} : { controlCalls: turn.controlCalls }),
    ...(turn.recalled.length === 0 ? {} : { recalled: turn.recalled }),
    ...(turn.extracted === undefined ? {} : { extracted: turn.extracted }),
    ...(turn.sources === undefined || turn.sources.length === 0 ? {} : { sources: turn.sources }),
    ...(turn.approvals === undefined ? {} : { approvals: turn.approvals }),
    ...(turn.limit === undefined ? {} : { limit: turn.limit }),
    ...(turn.cut === undefined ? {} : { cut: turn.cut }),
    ...(turn.attempts === undefined ? {} : { attempts: turn.attempts }),
    ...(turn.steps === undefined ? {} : { steps: turn.steps }),
  };
}

/** A turn that clears the working set is the first of the new one, unless it is nothing but the command. */
function changesOf(turn: TurnInFlight): Pick<TurnDraft, "changes"> {
  const { clears, kbs, ledger, number, outcome, approvals = [] } = turn;
  const always = approvals.filter((one) => one.always === true).map(({ tool }) => tool);
  const noted = {
    ...(ledger === undefined ? {} : { ledger }),
    ...(always.length === 0 ? {} : { approved: always }),
    ...(kbs === undefined ? {} : { kbs }),
  };
  if (clears) return { changes: { contextFrom: outcome === null ? number : number + 1, ...noted } };
  const changes = { ...outcome?.changes, ...noted };
  return Object.keys(changes).length === 0 ? {} : { changes };
}
