/** Which content a person may send: text within a limit. */
import { LilyError } from "#src/kernel/errors.ts";
import { toStorableText } from "#src/kernel/json.ts";

/**
 * The text of an inbound message: a string, or content parts that are all text.
 *
 * @param limit longest text in UTF-16 code units
 * @throws {LilyError} `message_blank`, `message_invalid` or `message_too_large`; nothing was stored.
 */
export function parseInboundText(content: unknown, limit: number): string {
  const text = toStorableText(textOf(content));
  if (text.length > limit) {
    throw new LilyError(
      "message_too_large",
      `the message has ${text.length} characters; the limit is ${limit}`,
      {
        next: "Send it in pieces. It was not stored.",
      },
    );
  }
  if (text.trim() === "") {
    throw new LilyError("message_blank", "the message is blank", {
      next: "Write something; nothing was stored.",
    });
  }
  return text;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) {
    const found = content === null ? "null" : typeof content;
    throw new LilyError("message_invalid", `the message content is ${found}, not text`, {
      next: "Send a string, or a list of parts of type text. Nothing was stored.",
    });
  }
  return content.map(partText).join("\n");
}

function partText(part: unknown, index: number): string {
  if (typeof part === "object" && part !== null && "type" in part && part.type === "text") {
    if ("text" in part && typeof part.text === "string") return part.text;
  }
  throw new LilyError("message_invalid", `part ${index + 1} of the message is not text`, {
    next: "Lily reads text only; leave out pictures and files. Nothing was stored.",
  });
}
