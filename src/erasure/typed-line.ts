/** The line of a receipt for what a person has typed at this machine. */
import { errorMessage } from "#src/kernel/errors.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import { erased, line, type ReceiptLine } from "./receipt.ts";
import type { Says } from "./says.ts";

/** Erases what was typed. A file that cannot be written is told of: the rest is erased all the same. */
export function eraseTyped({ typed }: Pick<ErasureDeps, "typed">, owner: string, says: Says): ReceiptLine {
  if (typed?.owner !== owner) {
    return line(
      "input history",
      "kept",
      "what was typed in a terminal is in its own history; erase it there",
    );
  }
  try {
    return erased("input history", typed.erase(says));
  } catch (error) {
    return line("input history", "unfinished", errorMessage(error));
  }
}
