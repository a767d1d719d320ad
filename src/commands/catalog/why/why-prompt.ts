/** `/why [turn] --prompt [call]`: the messages of a model call, rendered again from its receipt. */
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { counted, fenced } from "#src/kernel/markdown.ts";
import { attachmentText, type Message } from "#src/sessions/message.ts";
import type { CallReceipt } from "#src/sessions/call-receipt.ts";
import type { CommandContext } from "../../command.ts";

/** Shows the prompt of a call; the last one of the turn by default. */
export async function whyPrompt(
  context: CommandContext,
  turn: number,
  asked: number | undefined,
): Promise<Envelope> {
  const record = await context.repository.readTurn(context.session, turn);
  const { calls = [] } = record?.explanation ?? {};
  const call = asked ?? calls.length;
  const shown =
    record === undefined || calls[call - 1] === undefined
      ? undefined
      : await context.promptOf?.(record, call - 1);
  if (shown === undefined)
    return refused(
      "turn_not_found",
      `turn ${turn} has no model call ${call === 0 ? "" : call} to show`.replace("  ", " "),
      {
        next: `/why ${turn} explains it; prompts of earlier versions were not kept.`,
      },
    );
  const headline = `Turn ${turn}, call ${call} of ${calls.length}: ${calls[call - 1]?.model ?? ""} was given these messages${shown.isExact ? "" : ", but for what was forgotten, erased or changed since"}.${thoughtsText(calls[call - 1])}`;
  const text = shown.messages.map(messageText).join("\n\n");
  return done("prompt_shown", `${headline}\n\n${text}`, {
    lead: headline,
    body: fenced("text", text),
    data: { turn, call, isExact: shown.isExact, messages: shown.messages.map((message) => ({ ...message })) },
  });
}

function thoughtsText({ thoughts = 0 }: Partial<CallReceipt> = {}): string {
  return thoughts === 0
    ? ""
    : ` What it had thought before ${counted(thoughts, "step")} with tools went back to it and is not kept.`;
}

function messageText(message: Omit<Message, "timestamp">): string {
  const { role, content, toolCalls = [], toolCallId, attachments = [] } = message;
  const calls = toolCalls.map(({ id, name, arguments: given }) => `[calls ${name} ${given} as ${id}]`);
  const head = toolCallId === undefined ? `[${role}]` : `[${role} ${toolCallId}]`;
  return [head, ...(content === "" ? [] : [content]), ...attachments.map(attachmentText), ...calls].join(
    "\n",
  );
}
