/** Makes vectors for what was written, beside the turns: a turn never waits for an embedder. */

/** Vectors that no turn waits for. */
export interface FillBesideTurns {
  /** Called after a turn; while vectors are being made it does nothing. */
  afterTurn(): void;
  /** Resolves when none are being made. */
  settled(): Promise<void>;
}

/** Items in one go, so that a long list does not hold the end of the program up. */
const AT_ONCE = 50;

/**
 * Makes it. An embedder that is down is told to `onError`; the next turn tries again what is left.
 *
 * @param fill makes at most as many vectors as it is given, and says how many are left
 */
export function fillVectorsBesideTurns(
  fill: (limit: number) => Promise<{ readonly left: number }>,
  onError: (error: unknown) => void,
): FillBesideTurns {
  let running: Promise<void> | undefined;
  const fillAll = async (): Promise<void> => {
    try {
      while ((await fill(AT_ONCE)).left > 0);
    } catch (error) {
      onError(error);
    }
    running = undefined;
  };
  return {
    afterTurn: () => void (running ??= fillAll()),
    settled: async () => running,
  };
}
