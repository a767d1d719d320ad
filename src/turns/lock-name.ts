/** The name of the lock under which turns on a key run one at a time. */
import { encodeLabel } from "#src/kernel/namespace-label.ts";

/** Name of the lock of a key; owner and key are labels, so "/" separates them safely. */
export function lockName(ref: { readonly owner: string; readonly sessionKey: string }): string {
  return `turn/${encodeLabel(ref.owner)}/${encodeLabel(ref.sessionKey)}`;
}
