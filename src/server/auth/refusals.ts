/** The refusals of the login, in plain words, and how a LangGraph server answers with one. */
import { HTTPException } from "@langchain/langgraph-sdk/auth";
import { envelopeOf } from "#src/kernel/envelope.ts";
import { ERROR_CODES, errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";

/** The same whatever was wrong, so that an answer helps nobody to guess; nothing of what was sent is in it. */
export function unauthenticated(): LilyError {
  return new LilyError("unauthenticated", "the request has no valid key or token", {
    next: "Send one header, Authorization: Bearer <key or token>, or x-api-key: <key>; lily keys new <owner> makes keys.",
  });
}

/** What is known about who asks does not allow it. */
export function forbidden(message: string, next: string): LilyError {
  return new LilyError("forbidden", message, { next });
}

/** Codes whose text is for whoever asks. The others are about the server, whose files and addresses are not theirs. */
const PUBLIC_CODES = new Set(["unauthenticated", "forbidden", "session_not_yours"]);

/**
 * The answer of a LangGraph server for anything thrown: an envelope, with the status of its code. What is not for whoever
 * asks is told to `report`, and the answer says only that it happened.
 */
export function answerFor(error: unknown, report: (text: string) => void): HTTPException {
  const isPublic = isLilyError(error) && PUBLIC_CODES.has(error.code);
  if (!isPublic) report(errorMessage(error));
  const told = isPublic
    ? error
    : new LilyError("internal", "the server cannot check who is asking", {
        next: "Try again later; the log of the server says why.",
      });
  return new HTTPException(ERROR_CODES[told.code].http, {
    message: JSON.stringify(envelopeOf(told)),
    headers: {
      "content-type": "application/json",
      ...(told.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
    },
  });
}
