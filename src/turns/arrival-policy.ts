/** What happens to a message that arrives while a turn runs on its key: which rule holds for which key. */
import { z } from "zod";

const fieldsSchema = z.strictObject({
  /**
   * `queue`: it waits for its own turn. `collect`: all that arrive meanwhile become one turn. `interrupt`: it stops the
   * turn that runs, and what arrives until that has ended becomes one turn.
   */
  mode: z.enum(["queue", "collect", "interrupt"]),
  /** Quiet time in milliseconds after which a burst of messages becomes one turn; 0: none is waited for. */
  debounceMs: z.int().min(0).max(60_000),
  /** Longest time in milliseconds that the first message of a burst waits for quiet. */
  maxWaitMs: z.int().min(0).max(600_000),
  /** Longest wait in milliseconds for a turn that was stopped to end. */
  stopWaitMs: z.int().min(100).max(600_000),
});

/** Schema of {@link ArrivalOverrides}: any part of a policy. */
export const arrivalOverridesSchema = fieldsSchema.partial();

/** Parts of a policy that replace the same parts of a more general one. */
export type ArrivalOverrides = z.infer<typeof arrivalOverridesSchema>;

const DEFAULTS: ArrivalPolicy = { mode: "queue", debounceMs: 0, maxWaitMs: 10_000, stopWaitMs: 10_000 };

/** Schema of {@link ArrivalPolicy}, with its defaults. */
export const arrivalPolicySchema = arrivalOverridesSchema.transform((given) => ({
  ...DEFAULTS,
  ...defined(given),
}));

/** The rule for one key. */
export type ArrivalPolicy = z.infer<typeof fieldsSchema>;

/** Where the parts of a policy come from. */
export interface ArrivalSources {
  readonly base: ArrivalPolicy;
  /** By prefix of the session key; the longest that fits has the last word. */
  readonly byKeyPrefix: readonly { readonly prefix: string; readonly arrivals: ArrivalOverrides }[];
}

/** What holds where nothing is configured: each message waits for its own turn. */
export const DEFAULT_ARRIVALS: ArrivalSources = { base: DEFAULTS, byKeyPrefix: [] };

/** The policy of a key. */
export function resolveArrivals({ base, byKeyPrefix }: ArrivalSources, sessionKey: string): ArrivalPolicy {
  return byKeyPrefix
    .filter(({ prefix }) => sessionKey.startsWith(prefix))
    .toSorted((a, b) => a.prefix.length - b.prefix.length)
    .reduce((policy, { arrivals }) => ({ ...policy, ...defined(arrivals) }), base);
}

/** Whether a message may become part of a turn with others. */
export function gathers({ mode, debounceMs }: ArrivalPolicy): boolean {
  return mode !== "queue" || debounceMs > 0;
}

function defined(part: ArrivalOverrides): Partial<ArrivalPolicy> {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));
}
