/** One message to a subject: what it says and carries, and by which way it comes. */

/** One message to a subject. */
export interface SubjectMessage {
  readonly id: string;
  readonly text: string;
  readonly key?: string;
  /** The user stops the answer at its third piece. */
  readonly stops?: boolean;
  /** The bytes of a picture that comes with the text, as text. */
  readonly picture?: string;
  /** Those that are sent at the same moment, after it. */
  readonly together?: readonly SubjectMessage[];
  /**
   * Past `runTurn`, as clients of LangGraph do: a person's decision for the tool that waits, or the message to the state
   * after the first turn, whose hand-off is followed.
   */
  readonly direct?: "approve" | "replay";
}

/** The message with all that is sent with it, each alone, in order. */
export function partsOf({ together = [], ...message }: SubjectMessage): SubjectMessage[] {
  return [message, ...together];
}

/** What `runTurn` is given of it. */
export function contentOf({ text, picture }: SubjectMessage): unknown {
  if (picture === undefined) return text;
  const url = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
  const shown = { type: "image_url", image_url: { url } };
  return text === "" ? [shown] : [{ type: "text", text }, shown];
}
