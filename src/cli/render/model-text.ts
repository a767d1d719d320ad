/** What people are told of who answers. */

/** A model by its reference; the built-in solver is none. */
export function modelText(solver: string): string {
  return solver === "symbolic" ? "without a model" : solver;
}
