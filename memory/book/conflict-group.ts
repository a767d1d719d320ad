/** What a fact is about, if a later fact can contradict it: facts of one group can exclude each other. */
import { statementOf } from "./statement.ts";

/**
 * The conflict group of `text`, the same for the same text: what it is about by the forms in `conflict-rules.ts` and
 * `attribute-forms.ts`, else the statement that it makes or denies; null when it is no single short statement.
 */
export function conflictGroupOf(text: string): string | null {
  return statementOf(text)?.group ?? null;
}
