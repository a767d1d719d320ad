/** Shows one turn to a person who watches: notices, the answer as it comes, and how it ended. */
import type { TurnEvent } from "#src/turns/runner.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { approvalIn } from "#src/tools/approval.ts";
import { AnswerStream, type AnswerStreamOptions } from "./answer-stream.ts";
import { approvalPanel } from "./approval.ts";
import { printableLine } from "./printable.ts";
import { panel } from "./render/panel.ts";
import { renderEnvelope } from "./render/render-envelope.ts";

/** Where a turn is shown. */
export interface TurnViewOptions extends AnswerStreamOptions {
  /** The session in which this terminal's last turn ended; another one was begun elsewhere since. */
  readonly lastSessionId?: string | undefined;
}

/** A turn on the screen. Making it shows that an answer is awaited. */
export class TurnView {
  readonly #options: TurnViewOptions;
  readonly #answer: AnswerStream;
  readonly #notices = new Set<string>();
  readonly #sessions = new Set<string>();

  constructor(options: TurnViewOptions) {
    this.#options = options;
    this.#answer = new AnswerStream(options);
    options.activity.show("thinking");
  }

  readonly onEvent = (event: TurnEvent): void => {
    switch (event.type) {
      case "waiting":
        return this.#await("waiting for another turn on this conversation");
      case "session":
        if (this.#sessions.size === 0) this.#tellOfOthers(event.sessionId);
        this.#sessions.add(event.sessionId);
        return this.#await("thinking");
      case "notice":
        this.#showNotice(event.text);
        return this.#await("thinking");
      case "token":
        return this.#answer.push(event.text);
      case "tool":
        this.#answer.restart();
        return this.#await(`running ${printableLine(event.name)}`);
    }
  };

  /** Shows that the answer is being stopped. */
  stopping(): void {
    this.#await("stopping");
  }

  /** Shows what of the reply was not shown yet. */
  finish(reply: TurnReply): void {
    const { write, screen, activity } = this.#options;
    activity.hide();
    this.#answer.endLine();
    this.#showNotice(reply.announcement);
    this.#showNotice(reply.notice);
    const approval = approvalIn(reply.envelope.data);
    if (approval !== undefined) return write(`${approvalPanel(approval, screen)}\n`);
    if (!this.#isShown(reply)) write(`${renderEnvelope(reply.envelope, screen)}\n`);
    const ending = endingOf(reply, this.#sessions.size > 1);
    if (ending !== "") write(`${screen.paint.dim(ending)}\n`);
  }

  /** Another terminal or channel on the same key ended the session that this one was in. */
  #tellOfOthers(sessionId: string): void {
    const { lastSessionId } = this.#options;
    if (lastSessionId === undefined || lastSessionId === sessionId) return;
    this.#showNotice("This conversation was moved to another session from elsewhere; /sessions lists them.");
  }

  #await(what: string): void {
    // The spinner clears the line that it stands in.
    this.#answer.endLine();
    this.#options.activity.show(what);
  }

  #showNotice(text: string | undefined): void {
    if (text === undefined || text === "" || this.#notices.has(text)) return;
    this.#notices.add(text);
    const { write, screen, activity } = this.#options;
    activity.hide();
    this.#answer.endLine();
    write(`${panel([text], screen, { tone: "notice" })}\n`);
  }

  /** Whether the answer stands there already. A retry or a stored reply makes it differ from what was streamed. */
  #isShown({ envelope, status }: TurnReply): boolean {
    if (envelope.code !== "answered") return false;
    return this.#answer.is(envelope.message) && (envelope.message.trim() !== "" || status === "stopped");
  }
}

/** Outcomes that, without a turn, name the session that would be next: before the first turn nobody has begun it. */
const BEGIN_NOTHING: ReadonlySet<TurnReply["outcome"]> = new Set(["command", "refused", "ignored"]);

/** The session that `reply` leaves the conversation in; `previous` where it began and changed nothing. */
export function sessionAfter(
  { outcome, sessionId, turn }: Pick<TurnReply, "outcome" | "sessionId" | "turn">,
  previous: string | undefined,
): string | undefined {
  if (sessionId === "" || (turn === null && BEGIN_NOTHING.has(outcome))) return previous;
  return sessionId;
}

function endingOf(reply: TurnReply, isHandedOn: boolean): string {
  if (reply.repeated) return "This message was answered before; that answer is shown again.";
  if (reply.status === "stopped") return "Stopped. What was written so far is kept.";
  if (reply.outcome === "ignored") return "This command is for another bot; nothing was done.";
  // A rollover that nobody asked for is announced; one that was asked for together with a text is not.
  const isAskedFor = isHandedOn && reply.announcement === undefined && reply.outcome === "answered";
  return isAskedFor ? "This is a new session; /rejoin brings the earlier one back." : "";
}
