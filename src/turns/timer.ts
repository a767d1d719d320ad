/** Timers as a value that is passed in. */

/** Calls back later. Each method returns what takes that back; idempotent. */
export interface Timer {
  /** Calls once after `ms` milliseconds, and keeps the process alive until then. */
  after(ms: number, call: () => void): () => void;
  /** Calls again and again, every `ms` milliseconds; keeps no process alive. */
  every(ms: number, call: () => void): () => void;
}

/** The system's timers. */
export const systemTimer: Timer = {
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  every(ms, call) {
    const timer = setInterval(call, ms).unref();
    return () => clearInterval(timer);
  },
};
