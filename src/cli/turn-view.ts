/** Shows one turn to a person who watches: notices, the answer as it comes, and how it ended. */
import type { TurnEvent } from "#src/turns/runner.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import type { Activity } from "./activity.ts";
import { createPrintableStream, printable, printableLine } from "./printable.ts";
import { panel } from "./render/panel.ts";
import { renderEnvelope } from "./render/render-envelope.ts";
import type { Screen } from "./screen.ts";

/** A turn on the screen. */
export interface TurnView {
  readonly onEvent: (event: TurnEvent) => void;
  /** Shows what of the reply was not shown yet. */
  finish(reply: TurnReply): void;
}

/** Where a turn is shown. */
export interface TurnViewOptions {
  readonly write: (text: string) => void;
  readonly screen: Screen;
  readonly activity: Activity;
}

/** Makes the view of one turn and shows that it is awaited. */
export function createTurnView({ write, screen, activity }: TurnViewOptions): TurnView {
  const notices = new Set<string>();
  const pieces = createPrintableStream();
  /** What was shown of the answer since the last tool ran. */
  let streamed = "";

  const endLine = (): void => {
    if (streamed !== "" && !streamed.endsWith("\n")) write("\n");
  };
  const showNotice = (text: string | undefined): void => {
    if (text === undefined || text === "" || notices.has(text)) return;
    notices.add(text);
    activity.hide();
    endLine();
    write(`${panel([text], screen, { tone: "notice" })}\n`);
  };
  const onToken = (text: string): void => {
    const piece = pieces.push(text);
    if (piece === "") return;
    activity.hide();
    write(piece);
    streamed += piece;
  };
  const onTool = (name: string): void => {
    endLine();
    streamed = "";
    activity.show(`running ${printableLine(name)}`);
  };

  activity.show("thinking");
  return {
    onEvent(event) {
      switch (event.type) {
        case "waiting":
          return activity.show("waiting for another turn on this conversation");
        case "session":
          return activity.show("thinking");
        case "notice":
          showNotice(event.text);
          return streamed === "" ? activity.show("thinking") : undefined;
        case "token":
          return onToken(event.text);
        case "tool":
          return onTool(event.name);
      }
    },
    finish(reply) {
      activity.hide();
      showNotice(reply.announcement);
      showNotice(reply.notice);
      endLine();
      if (!isShown(streamed, reply)) write(`${renderEnvelope(reply.envelope, screen)}\n`);
      const ending = endingOf(reply);
      if (ending !== "") write(`${screen.paint.dim(ending)}\n`);
    },
  };
}

/** Whether the answer stands there already. A retry or a stored reply makes it differ from what was streamed. */
function isShown(streamed: string, { envelope, status }: TurnReply): boolean {
  if (envelope.code !== "answered") return false;
  const message = printable(envelope.message).trim();
  return message === streamed.trim() && (message !== "" || status === "stopped");
}

function endingOf(reply: TurnReply): string {
  if (reply.repeated) return "This message was answered before; that answer is shown again.";
  if (reply.status === "stopped") return "Stopped. What was written so far is kept.";
  return reply.outcome === "ignored" ? "This command is for another bot; nothing was done." : "";
}
