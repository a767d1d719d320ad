/** How much of the machine other programs used while something was measured. */
import { cpus } from "node:os";
import { processorMs } from "./measure.ts";

/** Starts watching; the function that is returned tells how many cores others have kept busy since, on average. */
export function watchMachine(): () => number {
  const begun = now();
  return () => {
    const end = now();
    const others = end.busyMs - begun.busyMs - (end.ownMs - begun.ownMs);
    return Math.max(0, others / (end.atMs - begun.atMs));
  };
}

function now() {
  const busyMs = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return { busyMs, ownMs: processorMs(), atMs: performance.now() };
}
