/** Memory of this process without what nobody holds any more. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/** Collects garbage now, so that the next to be measured does not pay for what another left behind. */
export function collectGarbage(): void {
  collect ??= exposed();
  collect();
}

/** Live heap and resident memory in bytes, after a collection. */
export function liveMemory(): { readonly heapBytes: number; readonly rssBytes: number } {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss };
}

/** Node gives the function away to whoever has the flag, also when it is set late. */
function exposed(): () => void {
  setFlagsFromString("--expose-gc");
  const gc: unknown = runInNewContext("gc");
  if (typeof gc !== "function") throw new Error("this Node does not expose its garbage collector");
  return () => void gc();
}
