/** Whether a call of a tool may run: by the rules for tools, and by what a person decides where these say so. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import { interrupt, isGraphBubbleUp } from "@langchain/langgraph";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { toStorableValue } from "#src/kernel/json.ts";
import type { BlobReader } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { ApprovalRecord } from "#src/sessions/turn-record.ts";
import {
  approvalOf,
  approvalRequest,
  parseAnswer,
  type Approval,
  type Decision,
} from "#src/tools/approval.ts";
import { heldRule, toolSource } from "#src/tools/policy.ts";
import { heldPolicy } from "#src/tools/session-tools.ts";
import type { OpenMark } from "./in-flight.ts";
import type { TurnInFlight } from "./state.ts";
import type { OpenCall } from "./turn-messages.ts";

/** What a person decided, where one was asked. */
interface Decided {
  readonly record?: ApprovalRecord;
  readonly decision?: Decision;
}

/** A call that may run, with these arguments. */
export type ApprovedCall = Decided & { readonly run: true; readonly args: OpenCall["args"] };

/** What becomes of a call. */
export type CallVerdict = ApprovedCall | (Decided & { readonly run: false; readonly why: string });

/** A call that is next, with what is known of it. */
export interface AskedCall {
  readonly call: OpenCall;
  readonly tool: StructuredToolInterface;
  readonly blobs: BlobReader;
  readonly session: SessionFields;
  readonly turn: TurnInFlight;
  /** What the Store says of it. */
  readonly mark: OpenMark | undefined;
  /** Puts what is to be known of it before the run waits, and before it goes on. */
  readonly note: (mark: Omit<OpenMark, "id" | "messageId">) => Promise<void>;
}

/** Judges a call, and lets the run wait for a person where it is to be asked about. */
export async function approveCall(deps: SessionDeps, asked: AskedCall): Promise<CallVerdict> {
  const { call, tool, blobs, session, turn } = asked;
  const source = toolSource(tool);
  const rule = heldRule(await heldPolicy(blobs, session, deps.agents.toolPolicy), {
    name: call.name,
    source,
  });
  if (rule === "deny") return { run: false, why: `not run: the rules for tools do not allow ${call.name}` };
  const always = [...(session.approvedTools ?? []), ...alwaysIn(turn)];
  // A question that was asked is answered, whatever the rules say by now.
  const isAsked = asked.mark?.approval !== undefined || asked.mark?.decision !== undefined;
  if (!isAsked && (rule === "allow" || always.includes(call.name))) return { run: true, args: call.args };
  const id = deriveUuid("approval", call.messageId, call.id);
  const args = toStorableValue(call.args) as Approval["args"];
  const approval = approvalOf({ id, name: call.name, args }, { description: tool.description, source });
  const decision = await decide(asked, approval);
  return { ...judged(call, decision), decision, record: recordOf(call, approval, decision) };
}

async function decide({ mark, note }: AskedCall, approval: Approval): Promise<Decision> {
  if (mark?.decision !== undefined) {
    passQuestion(approval);
    return mark.decision;
  }
  if (mark?.approval === undefined) await note({ state: "asked", approval });
  let problem: string | undefined;
  for (;;) {
    const answer = parseAnswer(interrupt(approvalRequest(approval, problem)), approval);
    if ("decision" in answer) {
      await note({ state: "answered", approval, decision: answer.decision });
      return answer.decision;
    }
    ({ problem } = answer);
  }
}

/** LangGraph tells the answers of a step apart by their order: one that is stored is counted all the same. */
function passQuestion(approval: Approval): void {
  try {
    interrupt(approvalRequest(approval));
  } catch (error) {
    if (!isGraphBubbleUp(error)) throw error;
  }
}

function judged({ name, args }: OpenCall, decision: Decision): CallVerdict {
  switch (decision.type) {
    case "approve":
      return { run: true, args };
    case "edit":
      return { run: true, args: decision.editedAction.args };
    case "reject": {
      const reason = decision.message?.trim() ?? "";
      return {
        run: false,
        why: `not run: the user did not approve ${name}${reason === "" ? "" : `: ${reason}`}`,
      };
    }
  }
}

function recordOf({ id: callId }: OpenCall, { id, tool }: Approval, decision: Decision): ApprovalRecord {
  const isAlways = decision.type === "approve" && decision.always === true;
  return { id, callId, tool, decision: decision.type, ...(isAlways ? { always: true } : {}) };
}

function alwaysIn({ approvals = [] }: TurnInFlight): string[] {
  return approvals.filter(({ always }) => always === true).map(({ tool }) => tool);
}
