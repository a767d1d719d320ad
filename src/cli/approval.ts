/** A question about a call of a tool at a terminal: how it is shown, how an answer is read, and what is done where nobody can answer. */
import {
  approvalIn,
  approvalText,
  argumentsText,
  type Approval,
  type Decision,
} from "#src/tools/approval.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import type { Engine } from "./engine.ts";
import { panel } from "./render/panel.ts";
import type { Screen } from "./screen.ts";

/** What the person is asked. */
export function approvalPanel(approval: Approval, screen: Screen): string {
  return panel([approvalText(approval)], screen, {
    tone: "question",
    title: `May ${approval.tool} run?`,
    code: argumentsText(approval),
    last: "yes · always (in this session) · no, with a reason if you like; Ctrl-C is no",
  });
}

/** What a line says to the question; `undefined` when it is no answer, but the next message. */
export function decisionIn(line: string): Decision | undefined {
  if (/^\s*y(?:es)?\s*$/iu.test(line)) return { type: "approve" };
  if (/^\s*a(?:lways)?\s*$/iu.test(line)) return { type: "approve", always: true };
  const no = /^\s*no?(?:[\s,.:;]+(?<message>.*))?$/isu.exec(line);
  if (no === null) return undefined;
  const message = no.groups?.["message"]?.trim() ?? "";
  return { type: "reject", ...(message === "" ? {} : { message }) };
}

/** Sends a message where nobody can be asked: what waits for a yes does not run, and the reply says so. */
export async function sendUnasked(
  engine: Pick<Engine, "send" | "approve">,
  request: Parameters<Engine["send"]>[0],
): Promise<TurnReply> {
  const { stop, onEvent } = request;
  const on = { ...(stop && { stop }), ...(onEvent && { onEvent }) };
  let reply = await engine.send(request);
  const refused = new Set<string>();
  for (;;) {
    const approval = approvalIn(reply.envelope.data);
    if (approval === undefined || stop?.aborted === true) break;
    refused.add(approval.tool);
    reply = await engine.approve({ ...on, id: approval.id, decision: NOBODY });
  }
  if (refused.size === 0) return reply;
  const told = `${[...refused].join(", ")}: not run, as nobody can be asked here. Talk to Lily in a terminal, or allow it with tools.policy in config.json.`;
  return { ...reply, notice: reply.notice === undefined ? told : `${told}\n${reply.notice}` };
}

const NOBODY = { type: "reject", message: "nobody can be asked here" } as const;
