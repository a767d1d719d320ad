/** What became of one item of a repair. */

/** Something was done, or left for another time; `undefined` when there was nothing to do. */
export type Outcome = { readonly state: "done" | "left"; readonly did: string } | undefined;

/** Something was done. */
export function done(did: string): Outcome {
  return { state: "done", did };
}

/** Something was left for another time, and why. */
export function left(did: string): Outcome {
  return { state: "left", did };
}
