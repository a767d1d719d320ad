/** Which model takes lifecycle decisions: session override, then agent, then defaults, then the built-in classifier. */
import type { ControlModel } from "./verdict.ts";

/** Name of the classifier that needs no model. */
export const BUILT_IN = "built-in";

/** What each level names; a level that names nothing is passed over. */
export interface ControlModelSources {
  readonly session?: string | undefined;
  readonly agent?: string | undefined;
  readonly defaults?: string | undefined;
}

/** The control model and the level that named it. The reply model plays no part. */
export function resolveControlModel(sources: ControlModelSources): ControlModel {
  for (const level of ["session", "agent", "defaults"] as const) {
    const model = sources[level];
    if (model !== undefined) return { model, level };
  }
  return { model: BUILT_IN, level: "built-in" };
}
