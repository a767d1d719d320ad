/** What a person has typed at this machine, as an erasure reaches it: the file, and the terminal that is open. */
import type { TypedLines } from "#src/erasure/place.ts";
import type { InputHistory } from "./history-file.ts";
import type { LineInput } from "./line-input.ts";

/** The lines of `owner`. */
export function typedLines(
  owner: string,
  history: InputHistory,
  input?: Pick<LineInput, "forgetSaying">,
): TypedLines {
  return {
    owner,
    count: (says) => history.count(says),
    erase(says) {
      input?.forgetSaying(says);
      return history.erase(says);
    },
  };
}
