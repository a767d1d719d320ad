/** The refusals of the login, in plain words. */
import { LilyError } from "#src/kernel/errors.ts";

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
