/** Hands an abort on from a signal to a controller. */

/**
 * Aborts `to` with the reason of `from` when `from` is aborted, at once if it is already.
 *
 * @returns what ends that; until then `from` keeps `to` alive
 */
export function passOn(from: AbortSignal | undefined, to: AbortController): () => void {
  const pass = (): void => to.abort(from?.reason);
  if (from?.aborted === true) pass();
  from?.addEventListener("abort", pass, { once: true });
  return () => from?.removeEventListener("abort", pass);
}
