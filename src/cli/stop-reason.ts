/** What a turn is told that was stopped while it waited: nothing of it was done. */
import { LilyError } from "#src/kernel/errors.ts";

/** The reason with which a stop signal is aborted. A turn that is being answered ends as stopped instead. */
export function stopReason(): LilyError {
  return new LilyError("turn_stopped", "stopped before it was answered", {
    next: "The message was not stored; send it again when you want.",
  });
}
