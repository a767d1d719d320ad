/** The calls of models that failed in a turn: bounded, and carried by the error that ends it. */
import type { LilyError } from "#src/kernel/errors.ts";
import type { FailedAttempt } from "#src/sessions/turn-record.ts";

/** Newest ones that are kept: four models with three attempts each. */
const MAX_ATTEMPTS = 12;

const carried = new WeakMap<object, readonly FailedAttempt[]>();

/** Failed calls with the error that they led to, and in a list. */
export const failedAttempts = {
  /** Puts the calls with `error`. Returns the error. */
  attach(error: LilyError, attempts: readonly FailedAttempt[]): LilyError {
    carried.set(error, attempts);
    return error;
  },

  /** The calls that were put with an error. */
  of(error: unknown): readonly FailedAttempt[] {
    return typeof error === "object" && error !== null ? (carried.get(error) ?? []) : [];
  },

  /**
   * The field that holds the newest of both; none when there are none.
   *
   * @param call which model call of the turn, from 1, those of `after` were tries of
   */
  join(
    before: readonly FailedAttempt[] | undefined,
    after: readonly FailedAttempt[],
    call = 1,
  ): { readonly attempts?: FailedAttempt[] } {
    const attempts = [...(before ?? []), ...after.map((one) => (call > 1 ? { ...one, call } : one))].slice(
      -MAX_ATTEMPTS,
    );
    return attempts.length === 0 ? {} : { attempts };
  },
};
