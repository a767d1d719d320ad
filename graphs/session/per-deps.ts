/** What a process keeps for as long as a graph's dependencies are used. */
import type { SessionDeps } from "#src/app/session-deps.ts";

/** What belongs to a graph's dependencies, made when it is first asked for. */
export function perDeps<T extends object>(make: () => T): (deps: SessionDeps) => T {
  const all = new WeakMap<SessionDeps, T>();
  return (deps) => {
    const known = all.get(deps) ?? make();
    all.set(deps, known);
    return known;
  };
}
